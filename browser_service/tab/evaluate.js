// Runs the caller's function and gives its value as text: one letter for its kind, then the text.
//   s a string   j indented JSON   u undefined   e an error: JSON of {said, stack}
// A capital letter says that the text was cut at `limit` UTF-8 bytes. Where up to `keep` bytes are wanted, a value over
// the limit comes as an object {head, whole} instead, to be read in pieces.
async (limit, keep, callFunctions, run) => {
  "use strict";
  const DEEPEST = 100;
  const SHOWN = 1000;
  const tagOf = (thing) => Object.prototype.toString.call(thing).slice(8, -1);
  const wellFormed = (text) => (text.toWellFormed ? text.toWellFormed() : text);
  const saidBy = (fault) => {
    try {
      if (fault instanceof Error || tagOf(fault) === "Error" || tagOf(fault) === "DOMException") {
        return wellFormed(fault.message ? `${fault.name}: ${fault.message}` : String(fault.name));
      }
      return typeof fault === "string" ? wellFormed(fault) : JSON.stringify(fault) ?? String(fault);
    } catch {
      return "an error that cannot be described";
    }
  };

  let left = keep;
  const parents = [];
  const nested = (thing) => JSON.stringify(plain(thing)) ?? "undefined";
  const some = (things, write) => {
    const shown = [];
    for (const each of things) {
      if (shown.length === SHOWN || left < 0) return `${shown.join(", ")}, …`;
      shown.push(write(each));
    }
    return shown.join(", ");
  };
  const describeNode = (node) => {
    if (node.nodeType === 3) return `#text ${JSON.stringify(wellFormed(node.data.slice(0, 200)))}`;
    if (node.nodeType !== 1) return String(node.nodeName);
    const id = Element.prototype.getAttribute.call(node, "id");
    const classes = (Element.prototype.getAttribute.call(node, "class") ?? "").split(/\s+/).filter(Boolean);
    const name = String(node.nodeName).toLowerCase();
    return wellFormed(`<${name}${id ? `#${id}` : ""}${classes.map((each) => `.${each}`).join("")}>`);
  };
  // What JSON cannot hold, as text; undefined where JSON can.
  const describe = (thing, tag) => {
    if (tag === "Window" || tag === "global") return "[object Window]";
    if (typeof thing.nodeType === "number" && tag !== "Object") return describeNode(thing);
    if (tag === "Error" || tag === "DOMException" || thing instanceof Error) return saidBy(thing);
    if (tag === "RegExp") return String(thing);
    if (tag === "Date") return Number.isNaN(thing.getTime()) ? "Invalid Date" : thing.toISOString();
    if (tag === "Map") return `Map(${thing.size}) {${some(thing, ([key, value]) => `${nested(key)} => ${nested(value)}`)}}`;
    if (tag === "Set") return `Set(${thing.size}) {${some(thing, nested)}}`;
    if (tag === "ArrayBuffer" || tag === "SharedArrayBuffer" || tag === "DataView") return `${tag}(${thing.byteLength})`;
    if (ArrayBuffer.isView(thing)) return `${tag}(${thing.length}) [${some(thing, String)}]`;
    return undefined;
  };
  const isList = (thing, tag) => Array.isArray(thing) || (/(List|Collection)$/.test(tag) && typeof thing.length === "number");
  const read = (thing, key) => {
    try {
      return plain(thing[key]);
    } catch (fault) {
      return `[threw ${saidBy(fault)}]`;
    }
  };
  const listed = (thing) => {
    const items = [];
    if ([].toJSON) items.toJSON = undefined; // old libraries give arrays one, which would make them strings
    for (let index = 0; index < thing.length && left >= 0; index++) items.push(read(thing, index) ?? null);
    return items;
  };
  const membered = (thing, tag) => {
    const keys = Object.keys(thing);
    if (keys.length === 0 && tag !== "Object") return `[object ${tag}]`;
    const members = Object.create(null); // without a toJSON, and __proto__ is a name like any other
    for (const key of keys) {
      if (left < 0) break;
      left -= key.length + 4;
      const value = read(thing, key);
      if (value !== undefined) members[wellFormed(key)] = value;
    }
    return members;
  };
  const structured = (thing) => {
    if (parents.includes(thing)) return "[circular]";
    if (parents.length === DEEPEST) return `[object ${tagOf(thing)}]`;
    parents.push(thing);
    try {
      const tag = tagOf(thing);
      const text = describe(thing, tag);
      if (text !== undefined) left -= text.length;
      if (text !== undefined) return text;
      if (!Array.isArray(thing) && typeof thing.toJSON === "function") return plain(thing.toJSON(""));
      if (tag === "Number" || tag === "String" || tag === "Boolean" || tag === "BigInt") return plain(thing.valueOf());
      return isList(thing, tag) ? listed(thing) : membered(thing, tag);
    } finally {
      parents.pop();
    }
  };
  // A copy of the value that JSON can hold. `left` counts down about as many characters as its text will have.
  function plain(thing) {
    left -= 4 + 2 * parents.length;
    switch (typeof thing) {
      case "string":
        left -= thing.length;
        return wellFormed(left < 0 ? thing.slice(0, keep + 1) : thing);
      case "number":
        return Number.isFinite(thing) ? thing : String(thing);
      case "bigint":
        return `${thing}n`;
      case "symbol":
        return String(thing);
      case "function":
        return `[function ${String(thing.name)}]`.replace(" ]", "]");
      case "object":
        if (thing === null) return null;
        try {
          return structured(thing);
        } catch (fault) {
          return `[threw ${saidBy(fault)}]`;
        }
      default:
        return thing;
    }
  }

  const cutAt = (text, most) => {
    if (text.length * 3 <= most) return text;
    const { read: units } = new TextEncoder().encodeInto(text, new Uint8Array(most));
    return units < text.length ? text.slice(0, units) : text;
  };
  let kind;
  let text;
  try {
    let value = await run();
    const isClass = () => Function.prototype.toString.call(value).startsWith("class");
    if (callFunctions && typeof value === "function" && !isClass()) value = await value();
    if (value === undefined) return "u";
    const isText = typeof value === "string";
    const copy = plain(value);
    kind = isText || (typeof copy === "string" && typeof value !== "string") ? "s" : "j";
    text = kind === "s" ? copy : JSON.stringify(copy, null, 2);
  } catch (fault) {
    let stack = "";
    try {
      stack = String(fault.stack ?? "");
    } catch {
      // a stack that cannot be read says no line
    }
    return `e${JSON.stringify({ said: saidBy(fault).slice(0, 10_000), stack: wellFormed(stack).slice(-20_000) })}`;
  }
  const head = cutAt(text, limit);
  if (head.length === text.length && left >= 0) return kind + text;
  if (keep <= limit) return kind.toUpperCase() + head;
  return { head: kind.toUpperCase() + head, whole: cutAt(text, keep) };
}
