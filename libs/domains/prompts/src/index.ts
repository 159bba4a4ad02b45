export { schemaOf } from './extraction.policy';
export { reachesPrompt } from './prompt-grants.policy';
export { PromptModelsModule, PromptsModule, PromptToolsModule, PromptsMaintenanceModule } from './prompts.module';
export { PromptsQueries, type RunnablePrompt } from './prompts.queries';
export { PromptsService, type PromptTemplateInput } from './prompts.service';
export { PromptRunner, type PreparedPrompt, type PromptRequest } from './prompt-runner';
