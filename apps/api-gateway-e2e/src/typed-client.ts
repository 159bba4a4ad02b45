import type { components, paths } from '../../../openapi/openapi';
import type { ApiClient } from '../support';

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';
type Path<M extends Method> = { [P in keyof paths]: paths[P][M] extends { responses: unknown } ? P : never }[keyof paths];
type Json<T> = T extends { content: { 'application/json': infer B } } ? B : undefined;
type Parameters<O, K extends string> = O extends { parameters: { [_ in K]: infer V } } ? V : undefined;
type QueryOf<O> = O extends { parameters: { query?: infer V } } ? V : undefined;
type BodyOf<O> = O extends { requestBody?: infer R } ? Json<NonNullable<R>> : undefined;
type Successes<R> = { [S in keyof R]: S extends 200 | 201 | 202 | 204 ? Json<R[S]> : never }[keyof R];
type ResultOf<O> = O extends { responses: infer R } ? Successes<R> : never;

type Needed<O> = (Parameters<O, 'path'> extends undefined ? { params?: undefined } : { params: Parameters<O, 'path'> }) &
  (BodyOf<O> extends undefined ? { body?: undefined } : { body: BodyOf<O> });
type Options<O> = Needed<O> & { query?: QueryOf<O>; headers?: Record<string, string> };

export type Schemas = components['schemas'];
export type Refusal = { status: number; body: Schemas['Error'] | Schemas['HTTPValidationError'] };

/** The API as its document types it, in the name of one caller. What the document does not know does not compile. */
export class TypedClient {
  constructor(
    private readonly api: ApiClient,
    private readonly token: string | null,
  ) {}

  /** The same API for somebody else. */
  as(token: string | null): TypedClient {
    return new TypedClient(this.api, token);
  }

  /** A call that must succeed. */
  async call<M extends Method, P extends Path<M>>(method: M, path: P, options: Options<paths[P][M]>): Promise<ResultOf<paths[P][M]>> {
    const { status, body } = await this.send(method, path, options);
    if (status >= 300) throw new Error(`${method} ${path} answered ${status} ${JSON.stringify(body)}`);
    return body as ResultOf<paths[P][M]>;
  }

  /** A call that must be refused. */
  async refused<M extends Method, P extends Path<M>>(method: M, path: P, options: Options<paths[P][M]>): Promise<Refusal> {
    const { status, body } = await this.send(method, path, options);
    if (status < 400) throw new Error(`${method} ${path} answered ${status}, not a refusal`);
    return { status, body: body as Refusal['body'] };
  }

  private send(
    method: Method,
    path: string,
    options: { params?: unknown; query?: unknown; body?: unknown; headers?: Record<string, string> },
  ) {
    const params = (options.params ?? {}) as Record<string, string>;
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name]));
    const query = new URLSearchParams((options.query ?? {}) as Record<string, string>).toString();
    return this.api.call(method.toUpperCase(), filled + (query && `?${query}`), {
      as: this.token,
      body: options.body,
      headers: options.headers,
    });
  }
}
