// Given all elements that match a selector: how many, how many are visible, and what the chosen one is.
(elements) => {
  const visible = (e) => {
    if (!e.checkVisibility || !e.checkVisibility({ visibilityProperty: true })) return false;
    const box = e.getBoundingClientRect();
    return box.width > 0 && box.height > 0;
  };
  const seen = elements.map(visible);
  const first = Math.max(0, seen.indexOf(true));
  const e = elements[first];
  if (!e) return { count: 0, visible: 0, first: -1, kind: "" };
  const tag = e.localName;
  const type = tag === "input" ? e.type : "";
  let kind = "other";
  if (tag === "select") kind = "select";
  else if (tag === "textarea") kind = "text";
  else if (tag === "input") {
    if (["checkbox", "radio"].includes(type)) kind = "check";
    else if (["date", "time", "datetime-local", "month", "week", "range", "color"].includes(type)) kind = "value";
    else if (["button", "submit", "reset", "image", "file", "hidden"].includes(type)) kind = type;
    else kind = "text";
  } else if (e.isContentEditable) kind = "editable";
  // A styled checkbox or radio button is often invisible itself; a person clicks its label.
  const opacity = e.checkVisibility && e.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const label = kind === "check" && (!seen[first] || !opacity) && e.labels && [...e.labels].some(visible);
  const form = e.form || (e.closest && e.closest("form"));
  const buttons = form ? [...form.elements].filter((b) => b.type === "submit" || b.type === "image") : [];
  const fields = form ? [...form.elements].filter((f) => f.localName === "input" && !["hidden", "checkbox", "radio", "file", "button", "reset", "submit", "image", "range", "color"].includes(f.type)) : [];
  return {
    count: elements.length,
    visible: seen.filter(Boolean).length,
    first,
    kind,
    type,
    label: Boolean(label),
    form: Boolean(form),
    implicit: tag === "input" && (buttons.length > 0 || fields.length === 1),
    readonly: Boolean(e.readOnly),
    options: kind === "select" ? [...e.options].slice(0, 200).map((o) => [o.label.trim(), o.value]) : [],
  };
}
