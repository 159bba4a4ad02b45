export * from './an-agent';
