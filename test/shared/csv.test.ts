import { csvLine } from '../../src/shared/csv.ts';

describe('CSV lines', () => {
  it.each<[string, Parameters<typeof csvLine>[0], string]>([
    ['plain cells', ['a', 1, true, null], 'a,1,true,'],
    ['what would end a cell or a line', ['a,b', 'a"b', 'a\nb', 'a\rb'], '"a,b","a""b","a\nb","a\rb"'],
    ['what a spreadsheet would calculate', ['=1+1', '+1', '-a', '@x'], "'=1+1,'+1,'-a,'@x"],
    ['the same behind white space that is skipped', ['\t=1', '\r=1'], `'\t=1,"'\r=1"`],
    ['the same in full width', ['＝1', ' ＋1'], "'＝1,' ＋1"],
    ['the same where a semicolon ends a cell', ['a;=1', 'a; @x;b', 'a\n=1;2'], `a;'=1,a;' @x;b,"a\n'=1;2"`],
    ['the same behind quotes, which that spreadsheet drops', ['a;"=1+1;b', '"=1'], `"a;'""=1+1;b","'""=1"`],
    ['amounts, which stay numbers', ['-5.0000', '0.0000', '-0'], '-5.0000,0.0000,-0'],
    ['both at once', ['=A1,"x"'], `"'=A1,""x"""`],
  ])('A line of CSV with %s is written as specified', (_, cells, expected) => {
    expect(csvLine(cells)).toBe(`${expected}\r\n`);
  });
});
