/** What a PromQL expression asks for. */
export interface Asked {
  metric: string;
  /** The labels that it names in braces, with their values where they must be equal. */
  labels: Map<string, string | undefined>;
}

const WORDS = new Set(['and', 'or', 'unless', 'by', 'without', 'on', 'ignoring', 'group_left', 'group_right', 'bool', 'offset']);

/** The metrics of an expression, and the labels that its results are grouped by. Knows the forms that our rules have. */
export function askedBy(expression: string): { metrics: Asked[]; groups: string[] } {
  const groups: string[] = [];
  const rest = expression.replace(/\b(?:by|without|on|ignoring)\s*\(([^)]*)\)/g, (_, names: string) => {
    groups.push(...names.split(',').map((name) => name.trim()));
    return ' ';
  });
  const metrics = [...rest.replace(/\[\w+\]/g, '').matchAll(/([a-zA-Z_:][\w:]*)(\s*\()?(?:\{([^}]*)\})?/g)]
    .filter(([, name, call]) => call === undefined && !WORDS.has(name))
    .map(([, metric, , braces = '']) => ({
      metric,
      labels: new Map(
        [...braces.matchAll(/(\w+)(=~|!~|!=|=)"([^"]*)"/g)].map(([, label, operator, value]) => [
          label,
          operator === '=' ? value : undefined,
        ]),
      ),
    }));
  return { metrics, groups };
}

/** One sample of the text that a process serves to Prometheus. */
export interface Sample {
  metric: string;
  labels: Record<string, string>;
}

/** The samples, and the metrics that are declared, with or without one. */
export function exposition(text: string): { names: string[]; samples: Sample[] } {
  const lines = text.split('\n');
  return {
    names: lines.flatMap((line) => /^# TYPE (\S+) /.exec(line)?.[1] ?? []),
    samples: lines
      .map((line) => /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? \S+$/.exec(line))
      .flatMap((match) =>
        match
          ? [
              {
                metric: match[1],
                labels: Object.fromEntries(
                  [...(match[2] ?? '').matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label, value]) => [label, value]),
                ),
              },
            ]
          : [],
      ),
  };
}

/** The metric that a series belongs to: a histogram has three kinds of them. */
export const metricOf = (series: string): string => series.replace(/_(bucket|sum|count)$/, '');

/** Functions by what they take: the increase of what only grows, or anything. */
const OF_COUNTERS = ['rate', 'increase'];
const FUNCTIONS = [...OF_COUNTERS, 'sum', 'max', 'count', 'absent', 'vector', 'histogram_quantile'];
const PAIRS: Record<string, string> = { ')': '(', ']': '[', '}': '{' };

/** What is wrong about an expression by its form: brackets, functions, and rates of what does not only grow, or growth without its rate. */
export function faultsOf(expression: string): string[] {
  const open: string[] = [];
  const faults: string[] = [];
  const bare = expression.replace(/"[^"]*"/g, '""');
  for (const bracket of bare.match(/[()[\]{}]/g) ?? []) {
    if (!(bracket in PAIRS)) open.push(bracket);
    else if (open.pop() !== PAIRS[bracket]) faults.push(`${bracket} closes nothing`);
  }
  if (open.length) faults.push(`${open.join('')} is not closed`);
  for (const [, name] of bare.matchAll(/([a-z_]+)\s*\(/g))
    if (!FUNCTIONS.includes(name) && !WORDS.has(name)) faults.push(`there is no ${name}()`);
  for (const [whole, before, series, range] of bare.matchAll(/(\w+\()?([a-zA-Z_:][\w:]*)\{[^}]*\}(\[\w+\])?/g)) {
    const grows = /_(total|count|sum|bucket)$/.test(series);
    const rated = OF_COUNTERS.some((name) => before === `${name}(`);
    if (grows !== rated || rated !== (range !== undefined)) faults.push(`${whole} is no ${grows ? 'growth' : 'state'}`);
    if (range && !/^\[\d+[smhd]\]$/.test(range)) faults.push(`${range} is no time`);
  }
  return faults;
}
