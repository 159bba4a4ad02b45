import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Request, Response } from 'express';
import { routeOf } from '@aps/platform/http';

type Paths = Record<string, Record<string, { responses: Record<string, { description: string }> }>>;

let paths: Paths | undefined;

/** The committed document's paths. */
const documented = (): Paths =>
  (paths ??= (JSON.parse(readFileSync(path.join(__dirname, '../../../../openapi/openapi.json'), 'utf8')) as { paths: Paths }).paths);

/**
 * Looks at every error that an application answers, whoever asks; to be called before its other middleware.
 *
 * @returns throws where the API document does not know one of them of its operation. A fault of ours is documented nowhere.
 */
export function watchErrors(app: NestExpressApplication): () => void {
  const found = new Set<string>();
  app.use((request: Request, response: Response, next: () => void) => {
    const json = response.json.bind(response);
    response.json = (body: { code?: unknown } | undefined) => {
      const { statusCode: status } = response;
      const route = routeOf(request).replace(/:(\w+)/g, '{$1}');
      const operation = documented()[route]?.[request.method === 'HEAD' ? 'get' : request.method.toLowerCase()];
      if (operation && status >= 400 && status !== 500) {
        const code = String(body?.code);
        if (!operation.responses[status]?.description.includes(`\`${code}\`:`)) found.add(`${request.method} ${route} ${status} ${code}`);
      }
      return json(body);
    };
    next();
  });
  return () => {
    if (found.size) throw new Error(`Errors that openapi/openapi.json does not know: ${[...found].join(', ')}`);
  };
}
