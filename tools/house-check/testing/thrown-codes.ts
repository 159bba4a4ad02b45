import ts from 'typescript';
import { ERRORS } from '@aps/contracts';

/** Something that runs, and where it stands. */
type Code = ts.FunctionLikeDeclaration | ts.VariableDeclaration | ts.PropertyDeclaration;

/** What one function does by itself: the codes that it names as errors, and what else it may run. */
interface Effects {
  codes: Set<string>;
  runs: Set<Code>;
}

/**
 * Which error codes a handler can answer with, as the compiler sees it: those that are written in whatever the handler may run, over
 * calls, callbacks, constants and the classes behind ports. It may see too much, since it weighs no condition.
 */
export class ThrownCodes {
  private readonly checker: ts.TypeChecker;
  private readonly effects = new Map<Code, Effects>();
  private readonly handlers = new Map<string, ts.MethodDeclaration>();
  private readonly classes: ts.ClassDeclaration[] = [];
  /** By port. */
  private readonly behind = new Map<ts.Type, ts.ClassDeclaration[]>();

  constructor(program: ts.Program) {
    this.checker = program.getTypeChecker();
    for (const source of program.getSourceFiles()) if (isOurs(source.fileName)) this.index(source);
  }

  /**
   * @param handler `Controller.method`
   * @returns each code with the way to where it stands
   */
  of(handler: string): Map<string, string> {
    const start = this.handlers.get(handler);
    if (!start) throw new Error(`There is no handler ${handler}.`);
    const found = new Map<string, string>();
    const ways = new Map<Code, string>([[start, handler]]);
    for (const [code, way] of ways) {
      const { codes, runs } = this.effectsOf(code);
      for (const name of codes) if (!found.has(name)) found.set(name, way);
      for (const next of runs) if (!ways.has(next)) ways.set(next, `${way} > ${nameOf(next)}`);
    }
    return found;
  }

  private index(source: ts.SourceFile): void {
    const visit = (node: ts.Node): void => {
      if (ts.isClassDeclaration(node) && node.name) {
        this.classes.push(node);
        if (node.name.text.endsWith('Controller')) {
          for (const member of node.members)
            if (ts.isMethodDeclaration(member)) this.handlers.set(`${node.name.text}.${member.name.getText()}`, member);
        }
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
  }

  private effectsOf(code: Code): Effects {
    const known = this.effects.get(code);
    if (known) return known;
    const effects: Effects = { codes: new Set(), runs: new Set() };
    this.effects.set(code, effects);
    const visit = (node: ts.Node): void => {
      // The codes in a handler's decorators are those that it documents.
      if (ts.isDecorator(node) && !ts.isParameter(node.parent)) return;
      if (ts.isTypeNode(node)) return;
      if (ts.isStringLiteralLike(node) && node.text in ERRORS && !isCompared(node)) effects.codes.add(node.text);
      if (ts.isIdentifier(node)) for (const next of this.codeAt(node)) effects.runs.add(next);
      ts.forEachChild(node, visit);
    };
    ts.forEachChild(code, visit);
    return effects;
  }

  private symbolAt(node: ts.Node): ts.Symbol | undefined {
    const symbol = this.checker.getSymbolAtLocation(node);
    return symbol && symbol.flags & ts.SymbolFlags.Alias ? this.checker.getAliasedSymbol(symbol) : symbol;
  }

  /** What a name stands for, if that runs or holds what runs; of a port, its implementations. */
  private codeAt(name: ts.Identifier): Code[] {
    const declarations = (this.symbolAt(name)?.declarations ?? []).filter((d) => isOurs(d.getSourceFile().fileName));
    return declarations.flatMap((declaration): Code[] => {
      if (ts.isClassDeclaration(declaration))
        return ts.isNewExpression(name.parent) ? declaration.members.filter(ts.isConstructorDeclaration) : [];
      if (ts.isMethodDeclaration(declaration) || ts.isMethodSignature(declaration)) return this.implementations(declaration);
      if (ts.isFunctionLike(declaration) && 'body' in declaration) return [declaration as ts.FunctionLikeDeclaration];
      if ((ts.isVariableDeclaration(declaration) || ts.isPropertyDeclaration(declaration)) && declaration.initializer) return [declaration];
      return [];
    });
  }

  /** Of a method of a port, those of every class that could stand behind it: what is bound need not extend it. */
  private implementations(method: ts.MethodDeclaration | ts.MethodSignature): Code[] {
    if (ts.isMethodDeclaration(method) && method.body) return [method];
    const port = this.checker.getTypeAtLocation(method.parent);
    let behind = this.behind.get(port);
    if (!behind) {
      behind = this.classes.filter((one) => this.checker.isTypeAssignableTo(this.checker.getTypeAtLocation(one), port));
      this.behind.set(port, behind);
    }
    return behind
      .flatMap(({ members }) => members.filter(ts.isMethodDeclaration))
      .filter(({ name, body }) => body && name.getText() === method.name.getText());
  }
}

const isOurs = (file: string): boolean => /\/(libs|apps)\//.test(file) && !/node_modules|\.spec\.ts$|\/testing\/|-e2e\//.test(file);

/** Who asks whether something is a code does not answer with it. */
const isCompared = ({ parent }: ts.Node): boolean => ts.isBinaryExpression(parent) || ts.isCaseClause(parent);

const nameOf = (code: Code): string => {
  const name = code.name?.getText() ?? 'constructor';
  return ts.isClassDeclaration(code.parent) ? `${code.parent.name?.text}.${name}` : name;
};
