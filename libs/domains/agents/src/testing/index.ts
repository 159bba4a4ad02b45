export * from './an-agent';
export * from './a-project';
