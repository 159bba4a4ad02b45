export * from './audit.dto';
export * from './members.dto';
export * from './organizations.dto';
export * from './roles';
