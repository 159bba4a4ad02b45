import { InferenceRoute, ModelCatalogEntry } from '@aps/entities';
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
