export * from './prompt-template.dto';
