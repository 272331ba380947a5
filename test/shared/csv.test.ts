import { csvLine } from '../../src/shared/csv.ts';

describe('CSV lines', () => {
  it.each<[string, Parameters<typeof csvLine>[0], string]>([
    ['plain cells', ['a', 1, true, null], 'a,1,true,'],
    ['delimiters inside a cell', ['a,b', 'a"b', 'a\nb', 'a\rb'], '"a,b","a""b","a\nb","a\rb"'],
    ['formulas', ['=1+1', '+1', '-a', '@x'], "'=1+1,'+1,'-a,'@x"],
    ['formulas behind skipped white space', ['\t=1', '\r=1'], `'\t=1,"'\r=1"`],
    ['full-width formulas', ['＝1', ' ＋1'], "'＝1,' ＋1"],
    ['formulas behind a semicolon', ['a;=1', 'a; @x;b', 'a\n=1;2'], `a;'=1,a;' @x;b,"a\n'=1;2"`],
    ['formulas behind quotes, which such a spreadsheet drops', ['a;"=1+1;b', '"=1'], `"a;'""=1+1;b","'""=1"`],
    ['amounts, which stay numbers', ['-5.0000', '0.0000', '-0'], '-5.0000,0.0000,-0'],
    ['a formula with delimiters', ['=A1,"x"'], `"'=A1,""x"""`],
  ])('A CSV line encodes %s', (_, cells, expected) => {
    expect(csvLine(cells)).toBe(`${expected}\r\n`);
  });
});
