/** Writes the upstream's XML (dialect.md, "Envelope"). */

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Text of an element or an attribute. */
export function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => ESCAPES[character] ?? character);
}

/** An element with text; nothing where the value is not known. */
export function leaf(name: string, value: string | number | null | undefined): string {
  return value === null || value === undefined ? '' : `<${name}>${escaped(String(value))}</${name}>`;
}

/** An element around other elements, with attributes. */
export function node(
  name: string,
  children: string,
  attributes: Readonly<Record<string, string | number>> = {},
): string {
  const written = Object.entries(attributes).map(([key, value]) => ` ${key}="${escaped(String(value))}"`);
  return `<${name}${written.join('')}>${children}</${name}>`;
}

/** An element that clears. */
export function empty(name: string): string {
  return `<${name}/>`;
}

/** META of a message; a null leaves the element out. */
export interface Meta {
  readonly sender: string;
  readonly sequence: string | null;
  /** yyyyMMddHHmmss. */
  readonly dttm: string;
  readonly type: string;
  readonly subtype: string;
  /** SEQN of the request that is answered; absent for none. */
  readonly echo?: string;
}

/** A whole message around its payload. */
export function message(meta: Meta, payload: string): string {
  const head =
    leaf('SNDR', meta.sender) +
    leaf('SEQN', meta.sequence) +
    leaf('DTTM', meta.dttm) +
    leaf('TYPE', meta.type) +
    leaf('STYP', meta.subtype) +
    leaf('RSEQ', meta.echo);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<MSG xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:noNamespaceSchemaLocation="sis.xsd">',
    `  <META>${head}</META>`,
    `  ${payload}`,
    '</MSG>',
    '',
  ].join('\n');
}
