export * from './access';
export * from './access.guard';
export * from './guards.module';
export * from './org-scope';
export * from './principal';
export * from './principal.store';
