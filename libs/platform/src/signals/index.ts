export { Cutoff } from './cutoff';
