import path from 'node:path';
import ts from 'typescript';
import { sourceProgram } from './program';

/** Where code called `statement`, innermost frame first: the call itself, then who called the function that it stands in. */
export type Site = { file: string; line: number }[];

/** The frames of a stack that lie in the sources. */
export function siteOf(stack: string, root: string): Site {
  return [...stack.matchAll(/\(?([^\s()]+\.ts):(\d+):\d+\)?$/gm)]
    .map(([, file, line]) => ({ file: path.resolve(file), line: Number(line) }))
    .filter(({ file }) => file.startsWith(path.join(root, 'libs') + path.sep));
}

/** What PostgreSQL says of a column. */
export interface Column {
  name: string;
  /** OID of its type. */
  type: number;
  /** The table's column that it is, as it is, may be null. */
  nullable: boolean;
}

/** What a value of a PostgreSQL type is in JavaScript, by the type's OID; of lists, of their elements. */
const VALUES: Record<number, string> = {
  16: 'boolean', 17: 'Buffer', 18: 'string', 19: 'string', 20: 'string', 21: 'number', 23: 'number', 25: 'string', 700: 'number', 701: 'number',
  869: 'string', 1042: 'string', 1043: 'string', 1114: 'Date', 1184: 'Date', 1700: 'string', 2950: 'string',
}; // prettier-ignore
const LISTS: Record<number, number> = { 1000: 16, 1005: 21, 1007: 23, 1009: 25, 1015: 1043, 1022: 701, 1185: 1184, 2951: 2950 };
/** Of JSON PostgreSQL knows no more, and of what is no value (a function's void) there is nothing to read. */
const UNKNOWN = new Set([114, 3802, 2278]);

/** The row types of statements, as the compiler knows them. */
export class RowTypes {
  private readonly program: ts.Program;
  private readonly checker: ts.TypeChecker;

  constructor(root: string) {
    this.program = sourceProgram(root);
    this.checker = this.program.getTypeChecker();
  }

  /** What is wrong about the row type of a statement that returns these columns. */
  faults(site: Site, columns: Column[]): string[] {
    const row = this.rowAt(site);
    if (!row) return ['its row type is not found'];
    if (row.flags & ts.TypeFlags.Any) return ['its row is any'];
    // Nobody can read such a row.
    if (row.flags & ts.TypeFlags.Unknown) return [];
    const fields = new Map(this.checker.getPropertiesOfType(row).map((field) => [field.name, this.checker.getTypeOfSymbol(field)]));
    const missing = [...fields.keys()].filter((name) => !columns.some((column) => column.name === name));
    return [
      ...missing.map((name) => `it returns no ${name}`),
      ...columns.flatMap((column) => {
        const type = fields.get(column.name);
        return type ? this.columnFaults(column, type) : [`its row lacks ${column.name}`];
      }),
    ];
  }

  private columnFaults({ name, type: oid, nullable }: Column, type: ts.Type): string[] {
    if (type.flags & ts.TypeFlags.Any) return [`${name} is any`];
    const mayBeNull = type.flags & ts.TypeFlags.Unknown || this.parts(type).some((part) => part.flags & ts.TypeFlags.Null);
    return [
      ...(this.holds(oid, type) ? [] : [`${name} is no ${this.checker.typeToString(type)}`]),
      ...(nullable && !mayBeNull ? [`${name} may be null`] : []),
    ];
  }

  private holds(oid: number, type: ts.Type): boolean {
    if (UNKNOWN.has(oid) || type.flags & ts.TypeFlags.Unknown) return true;
    return this.parts(type)
      .filter((part) => !(part.flags & (ts.TypeFlags.Null | ts.TypeFlags.Undefined)))
      .every((part) => {
        if (LISTS[oid] === undefined) return this.kindOf(part) === VALUES[oid];
        return this.checker.isArrayType(part) && this.holds(LISTS[oid], this.checker.getTypeArguments(part as ts.TypeReference)[0]);
      });
  }

  private kindOf(type: ts.Type): string {
    if (type.flags & ts.TypeFlags.StringLike) return 'string';
    if (type.flags & ts.TypeFlags.NumberLike) return 'number';
    if (type.flags & ts.TypeFlags.BooleanLike) return 'boolean';
    return type.symbol?.name ?? '';
  }

  private parts(type: ts.Type): ts.Type[] {
    return type.isUnion() ? type.types : [type];
  }

  /** In a function that is called for several statements the row type is a parameter; then its callers know it. */
  private rowAt(site: Site): ts.Type | undefined {
    for (const { file, line } of site) {
      const source = this.program.getSourceFile(file);
      if (!source) continue;
      let found: ts.Type | undefined;
      const look = (node: ts.Node): void => {
        if (
          !found &&
          (ts.isCallExpression(node) || ts.isNewExpression(node)) &&
          source.getLineAndCharacterOfPosition(node.expression.getStart()).line + 1 === line
        ) {
          found = this.rowOf(this.checker.getTypeAtLocation(node));
        }
        if (!found) ts.forEachChild(node, look);
      };
      look(source);
      if (found && !(found.flags & ts.TypeFlags.TypeParameter)) return found;
    }
    return undefined;
  }

  /** The row type of a statement, or of one that a value holds. */
  private rowOf(type: ts.Type, depth = 0): ts.Type | undefined {
    if (type.symbol?.name === 'Statement') return this.checker.getTypeArguments(type as ts.TypeReference)[0];
    if (depth > 2 || !(type.flags & ts.TypeFlags.Object)) return undefined;
    for (const property of this.checker.getPropertiesOfType(type)) {
      const row = this.rowOf(this.checker.getTypeOfSymbol(property), depth + 1);
      if (row) return row;
    }
    return undefined;
  }
}
