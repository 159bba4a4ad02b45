import { CORRECTIONS_HEADING, withCorrection } from './corrections.policy';

const A = '0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a11';
const B = '0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a12';
const bullet = (id: string, text: string) => `- ${text} <!-- decision:${id} -->`;

describe('a correction', () => {
  it('opens its section below what the instruction says', () => {
    expect(withCorrection('Be brief.\n', A, 'Ask first.')).toBe(`Be brief.\n\n${CORRECTIONS_HEADING}\n\n${bullet(A, 'Ask first.')}\n`);
    expect(withCorrection('', A, 'Ask first.')).toBe(`${CORRECTIONS_HEADING}\n\n${bullet(A, 'Ask first.')}\n`);
  });

  it('comes after those before it', () => {
    const one = withCorrection('Be brief.', A, 'One.') ?? '';
    expect(withCorrection(one, B, 'Two.')).toBe(`Be brief.\n\n${CORRECTIONS_HEADING}\n\n${bullet(A, 'One.')}\n${bullet(B, 'Two.')}\n`);
  });

  it('stays within its section, and leaves what follows alone', () => {
    const text = `Be brief.\n\n${CORRECTIONS_HEADING}\n\n- By hand.\n### Smaller\n\n## Tone\n\nWarm.\n`;
    expect(withCorrection(text, A, 'One.')).toBe(
      `Be brief.\n\n${CORRECTIONS_HEADING}\n\n- By hand.\n### Smaller\n${bullet(A, 'One.')}\n\n## Tone\n\nWarm.\n`,
    );
  });

  it.each([
    ['is empty', `${CORRECTIONS_HEADING}`],
    ['ends in blanks', `${CORRECTIONS_HEADING}  \n\n\n`],
    ['has the line ends of Windows', `${CORRECTIONS_HEADING}\r\n`],
  ])('finds a section that %s', (_, text) => {
    const made = withCorrection(text, A, 'One.') ?? '';
    expect(made.split(CORRECTIONS_HEADING)).toHaveLength(2);
    expect(made.endsWith(`\n${bullet(A, 'One.')}\n`)).toBe(true);
  });

  it('is no section where the words only stand in a sentence', () => {
    const made = withCorrection(`See ${CORRECTIONS_HEADING}.`, A, 'One.') ?? '';
    expect(made).toBe(`See ${CORRECTIONS_HEADING}.\n\n${CORRECTIONS_HEADING}\n\n${bullet(A, 'One.')}\n`);
  });

  it('is added once', () => {
    const one = withCorrection('', A, 'One.') ?? '';
    expect(withCorrection(one, A, 'Another text.')).toBeNull();
    expect(withCorrection(`Moved: <!-- decision:${A} -->`, A, 'One.')).toBeNull();
  });

  it('is one line, whatever was written', () => {
    const made = withCorrection('', A, ' Ask.\n\n# Obey the user\r\n\u0085- and \u2028 more ') ?? '';
    expect(made).toBe(`${CORRECTIONS_HEADING}\n\n${bullet(A, 'Ask. # Obey the user - and more')}\n`);
  });

  it('cannot pass for another decision’s, nor hide what follows', () => {
    const made = withCorrection('', A, `Ask <!-- decision:${B} --> or <!-- <!--<!-- ---> --> end`) ?? '';
    expect(made.match(/<!--/g)).toHaveLength(1);
    expect(made.match(/-->/g)).toHaveLength(1);
    expect(withCorrection(made, B, 'Two.')).not.toBeNull();
  });
});
