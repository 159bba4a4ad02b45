export * from './prompt-template.dto';
export * from './prompt-run.dto';
