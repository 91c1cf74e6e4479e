import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { changeLines, cutLines, linesOf, overlap } from '../../../src/review/suggestions/lines.ts'
import { suggestionMessage } from '../../../src/review/suggestions/message.ts'
import { findSuggestions } from '../../../src/review/suggestions/parse.ts'

describe('blocks of suggestions', () => {
  test('say how many lines they mean and how those read', () => {
    const text = [
      'Rather:',
      '```suggestion:-1+2',
      'a',
      '',
      'b',
      '```',
      '````suggestion',
      '```',
      '````',
      '```suggestion:-0+0',
      '```',
      '```js',
      '```suggestion',
      '```',
      '```suggestion',
      'never ends',
    ].join('\n')
    expect(findSuggestions(text)).toEqual([
      { above: 1, below: 2, content: 'a\n\nb\n' },
      { above: 0, below: 0, content: '```\n' },
      { above: 0, below: 0, content: '' },
    ])
    expect(findSuggestions('```suggestion:-500+1\nx\n```')[0]?.above).toBe(100)
  })
})

describe('changed lines', () => {
  test('keep the kind of line end, and a last line without one', () => {
    expect(changeLines('a\r\nb\r\n', [{ from: 2, to: 2, content: 'c\nd\n' }])).toBe(
      'a\r\nc\r\nd\r\n',
    )
    expect(changeLines('a\nb', [{ from: 2, to: 2, content: 'c\n' }])).toBe('a\nc')
    expect(changeLines('a\nb\nc\n', [{ from: 1, to: 2, content: '' }])).toBe('c\n')
    expect(
      overlap([
        { from: 1, to: 2 },
        { from: 2, to: 3 },
      ]),
    ).toBe(true)
    expect(
      overlap([
        { from: 3, to: 3 },
        { from: 1, to: 2 },
      ]),
    ).toBe(false)
  })

  test('are those that were named, whatever the text', () => {
    const text = fc.array(fc.stringMatching(/^[a-z ]{0,6}$/), { minLength: 1, maxLength: 12 })
    fc.assert(
      fc.property(text, fc.nat(), fc.nat(), (words, a, b) => {
        const whole = words.map((line) => `${line}\n`).join('')
        const from = (a % words.length) + 1
        const to = Math.min(words.length, from + (b % 3))
        const changed = changeLines(whole, [{ from, to, content: 'NEW\n' }])
        const expected = [...words.slice(0, from - 1), 'NEW', ...words.slice(to)]
        expect(linesOf(changed)).toEqual(expected.map((line) => `${line}\n`))
        expect(changeLines(whole, [{ from, to, content: cutLines(whole, from, to) }])).toBe(whole)
      }),
      { seed: 7 },
    )
  })
})

test('the message follows the template of the project', () => {
  const facts = {
    branchName: 'topic',
    filePaths: ['a', 'b'],
    projectName: 'Demo',
    projectPath: 'demo',
    userFullName: 'Ana',
    username: 'ana',
    count: 3,
    authors: [{ name: 'Ben', email: 'ben@x' }],
  }
  expect(suggestionMessage(null, facts)).toBe(
    'Apply 3 suggestion(s) to 2 file(s)\n\nCo-authored-by: Ben <ben@x>\n',
  )
  const template = '%{username}/%{user_full_name} %{branch_name} %{file_paths} %{nobody}'
  expect(suggestionMessage(template, facts)).toBe('ana/Ana topic a, b %{nobody}\n')
})
