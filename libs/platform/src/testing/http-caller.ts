export interface Answer {
  status: number;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- specs look into bodies of many shapes
  body: any;
  headers: Headers;
  /** The body as it came, for looking for what must not be in it. */
  text: string;
}

/** Whoever has a token to call with. */
export interface Bearer {
  token: string;
}

export interface CallOptions {
  as?: Bearer;
  /** A JSON body, or a text or form that is sent as it is. */
  body?: unknown;
  headers?: Record<string, string>;
}

export type HttpCaller = (method: string, path: string, options?: CallOptions) => Promise<Answer>;

/** Calls an application under test. */
export function httpCaller(url: string): HttpCaller {
  return async (method, path, { as, body, headers } = {}) => {
    const isForm = body instanceof FormData;
    const response = await fetch(url + path, {
      method,
      redirect: 'manual',
      headers: {
        ...(as && { Authorization: `Bearer ${as.token}` }),
        ...(body !== undefined && !isForm && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' || isForm ? body : JSON.stringify(body) }),
    });
    const { status, headers: told } = response;
    const type = told.get('content-type') ?? '';
    // A stream has no end to wait for.
    if (type.startsWith('text/event-stream')) await response.body?.cancel();
    const text = response.bodyUsed ? '' : await response.text();
    return { status, body: text && type.includes('json') ? JSON.parse(text) : undefined, headers: told, text };
  };
}

/** The form by which a file is uploaded. */
export function fileForm(content: Uint8Array<ArrayBuffer> | string, filename: string, type?: string): FormData {
  const form = new FormData();
  form.append('file', new Blob([content], { type }), filename);
  return form;
}

/** What matters of a refusal. */
export const outcome = ({ status, body }: Pick<Answer, 'status' | 'body'>): [number, string | undefined] => [status, body?.code];
