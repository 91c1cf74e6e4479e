import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { groupedTrailers, lastTrailers, parseTrailers } from '../../../src/git/history/trailers.ts'
import { gitBytes } from '../../support/git.ts'
import { runs } from '../../support/runs.ts'

/** git's own reading, with the printed lines as they are. */
function asGitReads(message: string): string {
  const args = ['-c', 'core.commentChar=#', 'interpret-trailers', '--parse']
  return gitBytes('/', args, { input: message }).toString('utf8')
}

function printed(message: string): string {
  return parseTrailers(message)
    .map(({ key, value }) => `${key}: ${value}\n`)
    .join('')
}

const examples: Record<string, string> = {
  'a plain block': 'Title\n\nBody\n\nChangelog: added\nSigned-off-by: A <a@x.test>\n',
  'no newline at the end': 'Title\n\nChangelog: added',
  'a title that looks like a trailer': 'fix: a thing\n',
  'a title that looks like a trailer, with a body': 'fix: a thing\n\nBody only.\n',
  'two paragraphs of trailers': 'T\n\nA: 1\n\nB: 2\n',
  'text among trailers': 'T\n\nA: 1\nsome text\nB: 2\n',
  'text among trailers with a generated one': 'T\n\nA: 1\nsome text\nSigned-off-by: x\n',
  'a cherry-pick line': 'T\n\nA: 1\n(cherry picked from commit 0123)\n',
  'more than three quarters text': 'T\n\na\nb\nc\nd\nSigned-off-by: x\n',
  'a continuation line': 'T\n\nA: one\n  two\n\tthree\nB: 2\n',
  'a continuation of nothing': 'T\n\n  two\nB: 2\n',
  'a repeated key': 'T\n\nA: 1\nA: 2\n',
  'a key with a space before the colon': 'T\n\nA : 1\n',
  'a key with a space inside': 'T\n\nA B: 1\nC: 2\n',
  'an empty value': 'T\n\nA:\nB: 2\n',
  'an underscore in a key': 'T\n\nA_b: 1\n',
  'a divider': 'T\n\nA: 1\n---\nB: 2\n',
  'a comment block': 'T\n\nA: 1\n\n# comment\n# more\n',
  'a comment inside': 'T\n\nA: 1\n# B: 2\nC: 3\n',
  'an old conflicts block': 'T\n\nA: 1\n\nConflicts:\n\ta.txt\n',
  scissors: `T\n\nA: 1\n# ------------------------ >8 ------------------------\nB: 2\n`,
  'carriage returns': 'T\r\n\r\nA: 1\r\nB: 2\r\n',
  'only trailers': 'A: 1\nB: 2\n',
  'a comment first': '# c\nT\n\nA: 1\n',
  empty: '',
  'blank lines at the end': 'T\n\nA: 1\n\n\n',
  'words of the language': 'T\n\nconstructor: 1\ntoString: 2\n',
  'a colon first': 'T\n\n: 1\nA: 2\n',
  'letters beyond ASCII': 'T\n\nÄ: 1\nA: Ünïcode — ok\n',
}

describe('trailers', () => {
  test.each(Object.entries(examples))('reads %s as git does', (_name, message) => {
    expect(printed(message)).toBe(asGitReads(message))
  })

  test('reads any message as git does', () => {
    const line = fc.oneof(
      fc.constantFrom(
        '',
        '',
        'Title',
        'Key: value',
        'Other-Key: v',
        'Signed-off-by: A <a@x.test>',
        '(cherry picked from commit abc)',
        ' continued',
        '\tcontinued: x',
        '# comment',
        '#A: 1',
        'Conflicts:',
        '---',
        '--- a',
        ' ',
        'A B: c',
        'A : c',
        ':',
        'A:',
        'plain text',
        '# ------------------------ >8 ------------------------',
        'x\r',
      ),
      fc.string({ maxLength: 12 }).map((text) => text.replace(/[\0\n]/g, '')),
    )
    const message = fc
      .tuple(fc.array(line, { maxLength: 12 }), fc.constantFrom('', '\n', '\n\n'))
      .map(([lines, end]) => lines.join('\n') + end)
    fc.assert(
      fc.property(message, (text) => {
        // git 2.39 itself never ends when a scissors line follows a divider.
        fc.pre(!/^---\s[\s\S]*^# -+ >8/m.test(text))
        expect(printed(text)).toBe(asGitReads(text))
      }),
      // A fixed seed, so that a rare message is found by whoever looks for it and not by chance.
      runs(400, 340587490),
    )
  }, 60_000)

  test('a repeated key keeps its last value, and all of them in the extended form', () => {
    const trailers = parseTrailers('T\n\nA: 1\nB: x\nA: 2\nconstructor: y\n')
    expect(lastTrailers(trailers)).toEqual({ A: '2', B: 'x', constructor: 'y' })
    expect(groupedTrailers(trailers)).toEqual({ A: ['1', '2'], B: ['x'], constructor: ['y'] })
  })

  test('stays linear on a long message', () => {
    // Of this process alone: others may be busy.
    const started = process.cpuUsage()
    parseTrailers(`T\n\n${'A: 1\n continued\n'.repeat(100_000)}`)
    parseTrailers(`T\n\n${'\n'.repeat(300_000)}`)
    parseTrailers(`T\n\nA${' '.repeat(300_000)}x: 1\n`)
    expect(process.cpuUsage(started).user / 1000).toBeLessThan(2000)
  })
})
