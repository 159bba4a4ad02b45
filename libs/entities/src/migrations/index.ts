import { Initial1700000000000 } from './1700000000000-initial';

/** Every migration, oldest first. */
export const MIGRATIONS = [Initial1700000000000];
