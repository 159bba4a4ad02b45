export * from './sandbox/sandbox-driver';
