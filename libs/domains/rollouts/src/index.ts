export * from './rollouts.module';
