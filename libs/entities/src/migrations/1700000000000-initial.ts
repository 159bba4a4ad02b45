import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Initial1700000000000 implements MigrationInterface {
  readonly name = 'Initial1700000000000';
  async up(_runner: QueryRunner): Promise<void> {}
  async down(_runner: QueryRunner): Promise<void> {}
}
