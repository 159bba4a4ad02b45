export * from './awake-timer';
export * from './parent';
export * from './parser-child';
export * from './places';
