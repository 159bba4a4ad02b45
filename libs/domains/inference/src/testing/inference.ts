import { BillingModule, OrgPlans } from '@aps/billing';
import { OrgsModule } from '@aps/orgs';
import { Egress } from '@aps/platform/egress';
import { BASE_MODULES, testService, type TestService } from '@aps/testing';
import { InferenceHttpModule } from '../http/inference-http.module';
import { InferenceSettings } from '../inference.settings';
import { seedInference } from '../seed';

/** Inference behind HTTP. */
export const INFERENCE = [...BASE_MODULES, BillingModule, OrgsModule.forRoot(OrgPlans), InferenceHttpModule];

/** Names resolve without a network; `internal.example` is a name of the inside. */
const resolve = (name: string) => Promise.resolve([name === 'internal.example' ? '10.0.0.7' : '93.184.215.14']);
const NO_KEYS = { OPENAI_API_KEY: undefined, ANTHROPIC_API_KEY: undefined, GOOGLE_GENERATIVE_AI_API_KEY: undefined };

/** Inference behind HTTP, with the models that the platform begins with. */
export function inferenceService(): TestService {
  const played = [[Egress, new Egress({ resolve })]] as const;
  const service = testService(INFERENCE, { settings: NO_KEYS, played });
  beforeAll(async () => {
    await seedInference(service.db, { mockBaseUrl: 'http://127.0.0.1:1/v1' });
    forget(service);
  });
  return service;
}

/** Forgets what is held of the platform: for specs that write its tables past the services. */
export const forget = (service: TestService) => service.get(InferenceSettings).drop(null);
