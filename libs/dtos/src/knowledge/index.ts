export * from './base.dto';
export * from './diagnosis.dto';
export * from './document.dto';
export * from './search.dto';
export * from './source.dto';
export * from './sync.dto';
