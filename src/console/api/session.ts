/** Who uses the console (`/api/v1/session`). */
import { ApiError, read, refusalOf } from './read.ts';

/** `signIn`: there are tokens; without them everybody on this machine is an operator. */
export interface Session {
  readonly name: string | null;
  readonly role: 'sender' | 'viewer' | 'operator';
  readonly signIn: boolean;
}

const PATH = 'api/v1/session';
const JSON_HEADERS = { 'content-type': 'application/json', accept: 'application/json' };

/** Who is signed in; null where a token is asked for. Throws where msgx does not answer. */
export async function fetchSession(signal: AbortSignal): Promise<Session | null> {
  try {
    return await read<Session>(PATH, signal);
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return null;
    throw error;
  }
}

/** Exchanges a token for a session. Throws ApiError with what msgx says where it does not know it. */
export async function signIn(token: string): Promise<Session> {
  return sessionOf(
    await fetch(PATH, { method: 'POST', headers: JSON_HEADERS, body: JSON.stringify({ token }) }),
  );
}

export async function signOut(): Promise<void> {
  await fetch(PATH, { method: 'DELETE', headers: JSON_HEADERS });
}

async function sessionOf(response: Response): Promise<Session> {
  if (response.ok) return (await response.json()) as Session;
  throw await refusalOf(response);
}
