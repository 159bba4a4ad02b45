export * from './prompts.module';
export { PromptsQueries, type PromptTemplateView } from './prompts.queries';
export { PromptsService, type PromptTemplateInput } from './prompts.service';
