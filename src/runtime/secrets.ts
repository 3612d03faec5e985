/** The last net under secrets in texts that leave the program: faults, log lines, error messages. */

/** Hides user name and password of any URL in a text, also of one that is not quite a URL. */
export function hideCredentials(text: string): string {
  return text.includes('://') ? text.replace(/:\/\/[^\s"']*@/g, '://***@') : text;
}
