/** A reader for the XML that the model needs: elements, attributes, text, comments. No code in common with the dialect's. */

export interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly Element[];
  /** Own text, trimmed. */
  readonly text: string;
}

const NAME = '[A-Za-z_][\\w.:-]*';
const TOKEN = new RegExp(
  `<\\?[^]*?\\?>|<!--[^]*?-->|<(${NAME})((?:\\s+${NAME}="[^"<]*")*)\\s*(/?)>|</(${NAME})\\s*>|([^<]+)`,
  'y',
);
const ATTRIBUTE = new RegExp(`(${NAME})="([^"<]*)"`, 'g');
const BAD_AMPERSAND = /&(?!(?:amp|lt|gt|quot|apos);)/;
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

interface Open {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: Element[];
  text: string;
}

/** The root element; null where the text is not well-formed or has a DOCTYPE. */
export function readXml(text: string): Element | null {
  const top: Open = { name: '', attributes: {}, children: [], text: '' };
  const open: Open[] = [top];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const token = TOKEN.exec(text);
    if (token === null) return null;
    const [, start, attributes = '', selfClosed, end, said] = token;
    const inner = open.at(-1) ?? top;
    if (said !== undefined) {
      if (BAD_AMPERSAND.test(said)) return null;
      inner.text += said;
    } else if (start !== undefined) {
      if (BAD_AMPERSAND.test(attributes)) return null;
      const pairs = [...attributes.matchAll(ATTRIBUTE)].map(([, name = '', value = '']) => [
        name,
        plain(value),
      ]);
      const child: Open = {
        name: start,
        attributes: Object.fromEntries(pairs) as Record<string, string>,
        children: [],
        text: '',
      };
      if (selfClosed === '/') inner.children.push(closed(child));
      else open.push(child);
    } else if (end !== undefined) {
      if (open.length === 1 || inner.name !== end) return null;
      open.pop();
      (open.at(-1) ?? top).children.push(closed(inner));
    }
  }
  const [root] = top.children;
  return open.length === 1 && top.children.length === 1 && top.text.trim() === '' ? (root ?? null) : null;
}

/** The children of a name, in order. */
export function all(element: Element, name: string): readonly Element[] {
  return element.children.filter((child) => child.name === name);
}

/** Text of the last child of a name; '' where it is empty or absent. */
export function textOf(element: Element, name: string): string {
  return all(element, name).at(-1)?.text ?? '';
}

function closed({ name, attributes, children, text }: Open): Element {
  return { name, attributes, children, text: plain(text).trim() };
}

function plain(text: string): string {
  return text.replace(/&(\w+);/g, (_, name: string) => ENTITIES[name] ?? '');
}
