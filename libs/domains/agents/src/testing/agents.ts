import { BillingModule } from '@aps/billing';
import { FilesHttpModule } from '@aps/files/http';
import { GovernanceModule, InferenceModule } from '@aps/inference';
import { addModel } from '@aps/inference/testing';
import { BASE_MODULES, testService, type TestService } from '@aps/testing';
import { AgentsHttpModule } from '../http';

/** Agents behind HTTP, and files for their skills. */
export const AGENTS = [...BASE_MODULES, BillingModule, FilesHttpModule, InferenceModule, GovernanceModule, AgentsHttpModule];

/** A model that the catalog of the service knows. */
export const MODEL = 'test-model';

/** Agents behind HTTP, with {@link MODEL}. */
export function agentsService(): TestService {
  const service = testService(AGENTS);
  beforeAll(() => addModel(service, MODEL));
  return service;
}
