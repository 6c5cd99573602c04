// The page: two files go in, and the rows that may be in the filter come out. All work is done by
// the worker.
// SPDX-License-Identifier: MIT
const $ = (id) => document.getElementById(id);
const MAGIC = [0x89, 0x4c, 0x42, 0x46]; // a container begins with these bytes
const FORMS = [
  'bytes',
  'int64',
  'uint64',
  'int32',
  'uint32',
  'float32',
  'float64',
  'hex',
  'base64',
  'date32',
  'timestamp-s',
  'timestamp-ms',
  'timestamp-us',
  'timestamp-ns',
  'decimal128',
  'uuid',
];

const worker = new Worker(
  URL.createObjectURL(new Blob([$('worker').textContent], { type: 'text/javascript' })),
);
const state = { filterFile: null, info: null, csvFile: null, columns: null, rows: null };
let lastId = 0; // answers to earlier questions are ignored
const ids = {};

function ask(message) {
  ids[message.type] = ++lastId;
  worker.postMessage({ ...message, id: lastId });
}

const count = (n) => n.toLocaleString('en');
const size = (n) =>
  n < 1000
    ? `${n} bytes`
    : n < 1e6
      ? `${(n / 1e3).toFixed(1)} kB`
      : n < 1e9
        ? `${(n / 1e6).toFixed(1)} MB`
        : `${(n / 1e9).toFixed(2)} GB`;
const named = ({ name }, text) => (text.startsWith(name) ? text : `${name}: ${text}`);
const withoutOptions = (text) => text.replace(/ \(--[a-z]+\)|; see --.*$/g, ''); // of the command
const percent = (rate) => `${Number((100 * rate).toPrecision(2))} %`;

const selectedText = ({ selected, records }) =>
  `${count(selected)} of ${count(records)} rows may be in the filter`;

function say(id, text, isProblem = false) {
  $(id).textContent = text;
  $(id).classList.toggle('problem', isProblem);
}

function fill(select, items) {
  select.replaceChildren(
    ...items.map(([value, text]) =>
      Object.assign(document.createElement('option'), { value, textContent: text }),
    ),
  );
}

// ---- The filter ----

async function takeFilter(file) {
  Object.assign(state, { filterFile: file, info: null });
  clearResult();
  const first = new Uint8Array(await file.slice(0, MAGIC.length).arrayBuffer());
  const isContainer = MAGIC.every((byte, i) => byte === first[i]);
  $('raw').hidden = isContainer || file.size === 0;
  $('filter-drop').classList.add('full');
  $('filter-name').textContent = `${file.name}, ${size(file.size)}`;
  if (file.size === 0) say('filter-text', 'This file is empty. Expected a filter.', true);
  else if (isContainer || $('format').value) loadFilter();
  else
    say(
      'filter-text',
      'This is no lanebloom container. If it has the bare bytes of an engine, choose the format.',
    );
  update();
}

function loadFilter() {
  const isRaw = !$('raw').hidden;
  state.info = null;
  say('filter-text', 'Loading …');
  ask({
    type: 'filter',
    file: state.filterFile,
    format: isRaw && $('format').value,
    form: $('form').value,
  });
  update();
}

function showFilter({ info }) {
  state.info = info;
  const facts = [info.format];
  if (info.keys !== null) facts.push(`${count(info.keys)} keys`);
  else if (info.keysEstimate !== null) facts.push(`about ${count(info.keysEstimate)} keys`);
  if (info.form !== 'bytes') facts.push(`keys: ${info.form}`);
  if (info.probes > 0) facts.push(`lets ${percent(info.falsePositiveRate)} of absent keys pass`);
  say('filter-text', facts.join(' · '));
  update();
}

// ---- The CSV file ----

function takeCsv(file) {
  Object.assign(state, { csvFile: file, columns: null });
  $('csv-drop').classList.add('full');
  $('csv-name').textContent = `${file.name}, ${size(file.size)}`;
  $('separator').value = '';
  readColumns();
}

function readColumns() {
  clearResult();
  state.columns = null;
  $('csv-options').hidden = true;
  if (state.csvFile.size === 0) {
    say('csv-text', 'This file is empty. Expected a CSV file.', true);
    update();
    return;
  }
  say('csv-text', 'Reading the first record …');
  ask({ type: 'columns', file: state.csvFile, separator: $('separator').value });
  update();
}

function showColumns({ fields, separator }) {
  state.columns = fields;
  const header = $('header').checked;
  const old = $('column').value;
  fill(
    $('column'),
    fields.map((name, i) => [i, header ? `${i + 1}: ${name}` : `${i + 1}, as ${name}`]),
  );
  if (old && old < fields.length) $('column').value = old;
  $('separator').value = separator;
  $('csv-options').hidden = false;
  say('csv-text', fields.length === 1 ? 'One column.' : `${count(fields.length)} columns.`);
  update();
}

// ---- Screening ----

function clearResult() {
  worker.postMessage({ type: 'stop' });
  state.rows = null;
  state.runs = false;
  $('result').hidden = true;
}

function update() {
  $('start').disabled = !state.info || !state.columns || state.runs;
  $('start').textContent = state.runs ? 'Screening …' : 'Screen';
}

function start() {
  clearResult();
  state.runs = true;
  state.separator = $('separator').value;
  ask({
    type: 'screen',
    file: state.csvFile,
    column: Number($('column').value),
    header: $('header').checked,
    separator: state.separator,
    missing: $('missing').value,
  });
  $('result').hidden = false;
  $('output').hidden = true;
  $('progress').hidden = false;
  $('bar').value = 0;
  say('summary', '');
  update();
}

function showProgress({ nbytes, size: all, counts }) {
  if (!state.runs) return;
  $('bar').value = all ? nbytes / all : 1;
  say('summary', `${size(nbytes)} of ${size(all)} · ${selectedText(counts)}`);
}

function showResult({ problem, rows, counts, preview, seconds, nbytes, memory }) {
  state.runs = false;
  state.rows = problem ? null : rows;
  state.last = { counts, seconds, nbytes, memory };
  $('progress').hidden = true;
  const share = counts.records ? ` (${percent(counts.selected / counts.records)})` : '';
  let text = `${selectedText(counts)}${share}. All others are certainly not in it.`;
  if (counts.missing)
    text += ` ${count(counts.missing)} rows without a key ${$('missing').selectedOptions[0].text}.`;
  if (problem) text = named(state.csvFile, withoutOptions(problem));
  say('summary', text, Boolean(problem));
  say(
    'time',
    problem
      ? 'Nothing can be saved: rows after this place were not read.'
      : `${size(nbytes)} in ${seconds.toFixed(1)} s`,
  );
  showRows(preview, counts.selected, problem);
  $('save').hidden = Boolean(problem);
  $('output').hidden = false;
  update();
}

function showRows(rows, nselected, problem) {
  const column = Number($('column').value);
  const table = document.createElement('table');
  const header = $('header').checked;
  rows.forEach((fields, i) => {
    const row = table.insertRow();
    fields.forEach((field, j) => {
      const cell = document.createElement(header && i === 0 ? 'th' : 'td');
      cell.textContent = field.length > 200 ? `${field.slice(0, 200)} …` : field;
      if (j === column) cell.className = 'key';
      row.append(cell);
    });
  });
  $('rows').replaceChildren(table);
  const shown = rows.length - (header && rows.length > 0 ? 1 : 0);
  say(
    'more',
    problem || shown >= nselected
      ? ''
      : `The first ${count(shown)} rows. The saved file has all ${count(nselected)}.`,
  );
}

function save() {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(state.rows);
  link.download = state.csvFile.name.replace(/(\.[^.]*)?$/, '-selected$1');
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

// ---- Events ----

worker.onmessage = ({ data }) => {
  if (
    data.id !== undefined &&
    data.id !==
      ids[data.type === 'problem' ? data.of : ({ done: 'screen' }[data.type] ?? data.type)]
  )
    return;
  if (data.type === 'ready') {
    fill($('format'), [
      ['', 'choose a format'],
      ...data.formats.map(({ name, text }) => [name, `${name}: ${text}`]),
    ]);
    $('engine').textContent = `lanebloom ${data.version}, kernel ${data.kernel}.`;
    document.body.dataset.ready = data.kernel;
  } else if (data.type === 'filter') showFilter(data);
  else if (data.type === 'columns') showColumns(data);
  else if (data.type === 'progress') showProgress(data);
  else if (data.type === 'done') showResult(data);
  else if (data.of === 'filter') say('filter-text', named(state.filterFile, data.text), true);
  else if (data.of === 'columns') {
    $('csv-options').hidden = false; // another separator may be right
    say('csv-text', named(state.csvFile, withoutOptions(data.text)), true);
  } else {
    state.runs = false;
    $('result').hidden = false;
    $('progress').hidden = true;
    say('summary', data.text, true);
    update();
  }
};

async function takeFiles(files, take) {
  for (const file of files) {
    const first = new Uint8Array(await file.slice(0, MAGIC.length).arrayBuffer());
    if (take && files.length === 1) await take(file);
    else if (MAGIC.every((byte, i) => byte === first[i])) await takeFilter(file);
    else if (/\.(csv|tsv|txt)$/i.test(file.name)) takeCsv(file);
    else await takeFilter(file);
  }
}

for (const [id, take] of [
  ['filter', takeFilter],
  ['csv', takeCsv],
]) {
  const box = $(`${id}-drop`);
  $(`${id}-file`).addEventListener(
    'change',
    ({ target }) => target.files.length && takeFiles(target.files, take),
  );
  box.addEventListener('dragover', () => box.classList.add('over'));
  box.addEventListener('dragleave', () => box.classList.remove('over'));
  box.addEventListener('drop', (event) => {
    event.stopPropagation();
    event.preventDefault();
    box.classList.remove('over');
    takeFiles([...event.dataTransfer.files], take);
  });
}
addEventListener('dragover', (event) => event.preventDefault());
addEventListener('drop', (event) => {
  event.preventDefault();
  takeFiles([...event.dataTransfer.files]);
});
fill(
  $('form'),
  FORMS.map((form) => [form, form === 'bytes' ? 'text, as it is' : form]),
);
$('format').addEventListener('change', () => $('format').value && loadFilter());
$('form').addEventListener('change', () => $('format').value && loadFilter());
$('separator').addEventListener('change', readColumns);
$('header').addEventListener('change', readColumns);
for (const id of ['column', 'missing'])
  $(id).addEventListener('change', () => {
    clearResult();
    update();
  });
$('start').addEventListener('click', start);
$('save').addEventListener('click', save);
