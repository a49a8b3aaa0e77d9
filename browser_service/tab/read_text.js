// A sink for text: blocks end lines, paragraphs stand apart, cells of a data table are separated by tabs, white space
// is folded except where the page keeps it.
({ fold, attribute, localName, PARAGRAPHS }, drops) => {
  const SILENT_INPUTS = new Set(['hidden', 'password', 'checkbox', 'radio', 'file', 'color', 'range', 'image']);
  const BUTTON_WORDS = { submit: 'Submit', reset: 'Reset' };
  const LAYOUT_CELL = 400; // characters in one cell, above which a table without headings is taken for layout

  const out = [];
  const tables = [];
  const edges = [];
  let size = 0;
  let lines = 0; // line ends due before the next text
  let ended = 0; // line ends that the text so far ends in
  let tabs = 0;
  let gap = false;
  let cells = 0; // data cells around the present place

  const put = (text) => {
    out.push(text);
    size += text.length;
  };
  const emit = (text) => {
    if (lines > 0 && size > 0) {
      if (lines > ended) put('\n'.repeat(lines - ended));
    } else if (tabs === 0 && size > 0 && (gap || (edges.length > 0 && isApart()))) put(' ');
    if (tabs > 0) put('\t'.repeat(tabs));
    put(text);
    lines = tabs = edges.length = 0;
    gap = false;
    for (ended = 0; text.at(-1 - ended) === '\n';) ended += 1;
  };
  const breakLine = (wanted) => {
    if (cells > 0) gap = true;
    else lines = Math.max(lines, wanted);
  };
  // Inline neighbours with no white space between them are still apart when a margin, or a box of their own, parts them.
  const isApart = () => edges.some(({ style, display, side }) => {
    const boxed = display !== 'inline' ? parseFloat(style[`padding${side}`]) || 0 : 0;
    return (parseFloat(style[`margin${side}`]) || 0) + boxed > 3;
  });
  const edge = (frame, side) => {
    if (!gap && lines === 0 && frame.tag !== 'slot') edges.push({ style: frame.style, display: frame.display, side });
  };

  const folded = (data) => {
    const text = fold(data);
    if (text === ' ' || text === '') {
      gap ||= text === ' ';
      return;
    }
    gap ||= text.startsWith(' ');
    emit(text.trim());
    gap = text.endsWith(' ');
  };
  const kept = (data) => emit(data.replace(/\r\n?/g, '\n').replaceAll('\u00a0', ' '));
  const lineByLine = (data) => data.split(/\r\n?|\n/).forEach((line, index) => {
    if (index > 0) lines = Math.min(lines + 1, 2);
    folded(line);
  });

  const isData = (table) => {
    const role = attribute(table, 'role');
    if (role === 'presentation' || role === 'none' || !table.rows || table.querySelector('table')) return false;
    const rows = Array.from({ length: Math.min(table.rows.length, 20) }, (_, index) => [...table.rows[index].cells]);
    if (rows.every((row) => row.length < 2)) return false;
    const inside = rows.flat();
    return inside.some((cell) => localName(cell) === 'th') ||
      inside.every((cell) => cell.textContent.length < LAYOUT_CELL && !cell.querySelector('h1,h2,h3,h4,p + p,form'));
  };
  // Moves to the cell's column, past those that cells of the rows above reach down into.
  const enterCell = (frame) => {
    const table = tables.at(-1);
    frame.cell = true;
    cells += 1;
    if (cells > 1) return;
    const { spans } = table;
    let { column } = table;
    while (spans[column]?.rows > 0) spans[column++].rows -= 1;
    tabs += column - table.written;
    table.written = column;
    const { colSpan = 1, rowSpan = 1 } = frame.el;
    for (let to = column + Math.min(colSpan, 100); column < to; column += 1) spans[column] = { rows: Math.min(rowSpan, 10000) - 1 };
    table.column = column;
    gap = false;
  };

  const fieldText = (frame) => {
    const { el, tag } = frame;
    if (tag === 'textarea') return el.value;
    if (tag === 'select') return Array.from(el.selectedOptions, (option) => option.label).join(', ');
    if (SILENT_INPUTS.has(el.type)) return el.type === 'image' ? el.alt : '';
    return el.value || (BUTTON_WORDS[el.type] ?? '');
  };
  const enterLeaf = (frame) => {
    const { el, tag } = frame;
    if (tag === 'br') {
      if (cells > 0) gap = true;
      else lines = Math.min(lines + 1, 2);
    } else if (tag === 'hr') breakLine(2);
    else if (!frame.shown) gap = true;
    else if (tag === 'input' || tag === 'textarea' || tag === 'select') {
      gap = true;
      if (frame.inline) folded(fieldText(frame));
      else lineByLine(`\n${fieldText(frame)}\n`);
      gap = true;
    } else if (tag === 'mjx-container') {
      folded(el.querySelector('annotation[encoding="application/x-tex"]')?.textContent ?? el.querySelector('math')?.textContent ?? '');
    } else if (tag !== 'wbr') gap = true;
  };

  return {
    get size() { return size; },
    content: () => out.join('').replace(/^(?:[ \t]*\n)+/, '').trimEnd(),
    enter(frame) {
      const { tag, display } = frame;
      if (drops?.(frame)) return false;
      if (frame.leaf) enterLeaf(frame);
      else if (display === 'table-cell' && tables.at(-1)?.data) enterCell(frame);
      else if (frame.inline) edge(frame, 'Left');
      else {
        const nested = (tag === 'ul' || tag === 'ol') && frame.above?.tag === 'li';
        breakLine(PARAGRAPHS.has(tag) && !nested ? 2 : 1);
      }
      if (tag === 'table' || display === 'table') {
        tables.push({ data: cells === 0 && isData(frame.el), spans: [], column: 0, written: 0 });
      }
      else if (display === 'table-row' && cells === 0 && tables.length > 0) tables.at(-1).column = tables.at(-1).written = 0;
      return true;
    },
    leave(frame) {
      const { tag, display } = frame;
      if (frame.cell) {
        cells -= 1;
        gap = cells > 0;
        return;
      }
      if (tag === 'table' || display === 'table') tables.pop();
      if (display === 'table-row' && cells === 0) tabs = 0;
      if (frame.inline) {
        if (!frame.leaf) edge(frame, 'Right');
      } else if (!frame.leaf) {
        const nested = (tag === 'ul' || tag === 'ol') && frame.above?.tag === 'li';
        breakLine(PARAGRAPHS.has(tag) && !nested ? 2 : 1);
      }
    },
    text(data, frame) {
      if (frame.space === 'collapse' || cells > 0) folded(data);
      else if (frame.space === 'preserve-breaks') lineByLine(data);
      else if (data !== '') kept(data);
    },
  };
}
