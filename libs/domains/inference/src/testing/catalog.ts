import { InferenceRoute, ModelCatalogEntry } from '@aps/entities';
import { NO_CALLER } from '@aps/platform/database';
import { sql, type Answer } from '@aps/platform/testing';
import type { TestService } from '@aps/testing';

/** A route of the platform. @returns its id */
export function addRoute(service: TestService, slug: string, over: Partial<InferenceRoute> = {}): Promise<string> {
  return service.insert(InferenceRoute, { slug, label: slug, dialect: 'dialect_1', ...over });
}

/** A model of the platform, on a route of its own unless one is named. @returns its id */
export async function addModel(service: TestService, key: string, over: Partial<ModelCatalogEntry> = {}): Promise<string> {
  const route_id = over.route_id ?? (await addRoute(service, `route-${key}`));
  return service.insert(ModelCatalogEntry, { key, label: key, provider: 'test', ...over, route_id });
}

/**
 * Makes a request while a model is being deleted, and lets the deletion be committed when the request waits for it or has its answer.
 *
 * @returns the answer
 */
export async function whileDeleting(service: TestService, key: string, request: () => Promise<Answer>): Promise<Answer> {
  let answer: Promise<Answer> | undefined;
  let answered = false;
  const waits = sql(`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`);
  await service.db.transaction(NO_CALLER, async (tx) => {
    await tx.execute(sql('DELETE FROM model_catalog WHERE key = $1'), [key]);
    answer = request().finally(() => (answered = true));
    while (!answered && !(await service.db.query(waits)).length);
  });
  return answer!;
}
