// The settings page: what was changed is saved by one call, and what the service says is shown.

const SETTINGS = '/ui/v1/settings';
const TEST = '/ui/v1/settings/searxng/test';

for (const button of document.querySelectorAll('[data-open]'))
  button.addEventListener('click', () => document.getElementById(button.dataset.open).showModal());
for (const button of document.querySelectorAll('[data-close]'))
  button.addEventListener('click', () => button.closest('dialog').close());
for (const dialog of document.querySelectorAll('dialog'))
  dialog.addEventListener('close', () => {
    const form = dialog.querySelector('form');
    form.reset();
    clear(form);
  });

for (const form of document.querySelectorAll('form[data-settings]')) {
  form.addEventListener('submit', event => {
    event.preventDefault();
    save(form, values(form, control => changed(control)));
  });
  form.querySelector('[data-test]')?.addEventListener('click', event => test(form, event.target));
  for (const button of form.querySelectorAll('[data-remove]'))
    button.addEventListener('click', async () => {
      if (await save(form, {[button.dataset.remove]: null})) form.elements[button.dataset.remove].focus();
    });
}

const enabled = document.getElementById('searxng_enabled');
enabled.addEventListener('change', async () => {
  const form = enabled.form;
  const address = document.getElementById('searxng_url');
  const wanted = {searxng_enabled: enabled.checked};
  if (enabled.checked && !address.disabled && changed(address)) wanted.searxng_url = address.value;
  if (!await save(form, wanted)) enabled.checked = enabled.defaultChecked;
});

function controls(form) {
  return [...form.elements].filter(control => control.name && !control.disabled);
}

function changed(control) {
  if (control.type === 'checkbox') return control.checked !== control.defaultChecked;
  if (control.tagName === 'SELECT') return !control.selectedOptions[0]?.defaultSelected;
  return control.value !== control.defaultValue;
}

function value(control) {
  if (control.type === 'checkbox') return control.checked;
  const numeric = control.type === 'number' || 'numeric' in control.dataset;
  return numeric && control.value !== '' ? Number(control.value) : control.value;
}

function values(form, chosen) {
  return Object.fromEntries(controls(form).filter(chosen).map(control => [control.name, value(control)]));
}

async function save(form, wanted) {
  clear(form);
  const wrong = controls(form).filter(control => control.name in wanted && !control.checkValidity());
  if (wrong.length) {
    fail(form, {errors: wrong.map(control => ({field: control.name, message: control.validationMessage}))});
    return false;
  }
  if (!Object.keys(wanted).length) {
    say(form, 'Nothing was changed.');
    return true;
  }
  const answer = await call(form, 'PATCH', SETTINGS, wanted);
  if (!answer) return false;
  show(answer.settings);
  say(form, ['Saved.', ...answer.warnings].join(' '), 'good');
  return true;
}

async function test(form, button) {
  clear(form);
  button.disabled = true;
  say(form, 'Testing …');
  const given = values(form, control => !('secret' in control.dataset) || control.value !== '');
  for (const name of Object.keys(given))
    if (!name.startsWith('searxng_') || name === 'searxng_enabled') delete given[name];
  const answer = await call(form, 'POST', TEST, given);
  button.disabled = false;
  if (!answer) return;
  const facts = [answer.message, answer.status && `HTTP ${answer.status}`, `${answer.elapsed_ms} ms`].filter(Boolean);
  const advice = [answer.advice, ...answer.warnings].filter(Boolean).join(' ');
  say(form, `${answer.ok ? '✓' : '✗'} ${facts.join(' · ')}`, answer.ok ? 'good' : 'bad', advice);
}

async function call(form, method, path, body) {
  let answer;
  let document_;
  try {
    answer = await fetch(path, {method, headers: {'Content-Type': 'application/json'}, body: JSON.stringify(body)});
    document_ = await answer.json();
  } catch {
    fail(form, {detail: 'The service does not answer. Is it running?'});
    return null;
  }
  if (answer.status === 401) {
    location.assign('/ui/login');
    return null;
  }
  if (!answer.ok) {
    fail(form, document_);
    return null;
  }
  return document_;
}

// What is in force now: in the controls (as what they go back to), on the dot and in the badges.
function show(settings) {
  for (const [name, item] of Object.entries(settings)) {
    const control = document.getElementById(name);
    if (control) put(control, item);
    for (const place of document.querySelectorAll(`[data-shown="${name}"]`)) place.textContent = item.value;
  }
  const on = settings.searxng_enabled.value;
  for (const sign of document.querySelectorAll('.dot, .badge')) sign.dataset.on = on;
  for (const badge of document.querySelectorAll('.badge')) badge.textContent = on ? 'enabled' : 'disabled';
}

function put(control, item) {
  const edited = changed(control) && !('secret' in control.dataset) && value(control) !== item.value;
  if ('secret' in control.dataset) {
    control.placeholder = item.set ? 'set; leave empty to keep it' : 'not set';
    control.value = '';
    const remove = document.querySelector(`[data-remove="${control.name}"]`);
    remove.hidden = item.source !== 'saved' && !item.note;
    const note = document.getElementById(`${control.name}-note`);
    note.textContent = item.note;
    note.hidden = !item.note;
  } else if (control.type === 'checkbox') {
    control.defaultChecked = item.value;
    if (!edited) control.checked = item.value;
  } else if (control.tagName === 'SELECT') {
    for (const option of control.options) option.defaultSelected = option.value === String(item.value);
    if (!edited) control.value = item.value;
  } else {
    control.defaultValue = item.value;
    if (!edited) control.value = item.value;
  }
}

function say(form, text, kind = '', advice = '') {
  const place = form.querySelector('.result');
  place.dataset.kind = kind;
  place.textContent = text;
  if (!advice) return;
  const more = document.createElement('span');
  more.className = 'advice';
  more.textContent = advice;
  place.append(more);
}

function fail(form, problem) {
  say(form, '');
  const summary = form.querySelector('.problem');
  const list = document.createElement('ul');
  for (const {field, message} of problem.errors ?? []) {
    const control = field && document.getElementById(field.split('.')[0]);
    const item = document.createElement('li');
    if (control && form.contains(control)) {
      const link = document.createElement('a');
      link.href = `#${control.id}`;
      link.textContent = `${labelOf(control)}: ${message}`;
      link.addEventListener('click', event => {
        event.preventDefault();
        control.focus();
      });
      item.append(link);
      control.setAttribute('aria-invalid', 'true');
      const place = document.getElementById(`${control.id}-error`);
      place.textContent = message;
      place.hidden = false;
    } else {
      item.textContent = field ? `${field}: ${message}` : message;
    }
    list.append(item);
  }
  const lead = document.createElement('p');
  lead.textContent = list.children.length ? 'Please correct this; nothing was saved.' : `${problem.detail} ${problem.hint ?? ''}`;
  summary.replaceChildren(lead, ...(list.children.length ? [list] : []));
  summary.hidden = false;
  summary.focus();
}

function labelOf(control) {
  return control.labels[0]?.textContent ?? control.name;
}

function clear(form) {
  say(form, '');
  form.querySelector('.problem').hidden = true;
  for (const control of form.elements) {
    control.removeAttribute('aria-invalid');
    const place = document.getElementById(`${control.id}-error`);
    if (place) place.hidden = true;
  }
}
