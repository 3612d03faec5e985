/** Whether an error is a system error with this code, e.g. ENOENT. */
export function hasCode(error: unknown, code: string): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === code;
}

/** Whether an error comes from the operating system at all. */
export function isSystemError(error: unknown): boolean {
  return error instanceof Error && 'errno' in error;
}
