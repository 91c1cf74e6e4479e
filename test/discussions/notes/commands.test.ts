import { expect, test } from 'vitest'
import { readMarked, readNames, takeCommands } from '../../../src/discussions/notes/commands.ts'
import { readDay } from '../../../src/planning/quick-actions/due-date.ts'

const known = new Set(['close', 'label', 'due'])
const take = (text: string) => takeCommands(text, known)

test('commands are lines of their own; what nobody knows and what stands in code is text', () => {
  const text = [
    'Look /close here',
    '/close',
    '/unknown thing',
    '```',
    '/close',
    '```',
    '>>>',
    '/label ~quoted',
    '>>>',
    '  /close',
    '/LABEL ~a ~"b c"  ',
    '`/close`',
  ].join('\r\n')
  const taken = take(text)
  expect(taken.commands).toEqual([
    { name: 'close', argument: '' },
    { name: 'label', argument: '~a ~"b c"' },
  ])
  expect(taken.text.split('\r\n')).toEqual([
    'Look /close here',
    '/unknown thing',
    '```',
    '/close',
    '```',
    '>>>',
    '/label ~quoted',
    '>>>',
    '  /close',
    '`/close`',
  ])
})

test('a text without commands stays as it is, spaces and all', () => {
  expect(take('  no\n\n')).toEqual({ text: '  no\n\n', commands: [] })
  expect(take('/shrug well').text).toBe('well ¯\\＿(ツ)＿/¯')
})

test('labels and people are read with and without their marks', () => {
  expect(readMarked('~a ~"b c", ~\'d e\'', '~')).toEqual(['a', 'b c', 'd e'])
  expect(readMarked('a b', '~')).toEqual(['a', 'b'])
  expect(readNames('@ana, @ben and cat')).toEqual(['ana', 'ben', 'cat'])
})

test.each([
  ['2026-05-20', '2026-05-20'],
  ['2026-02-30', undefined],
  ['today', '2026-05-04'],
  ['Tomorrow', '2026-05-05'],
  ['in 2 days', '2026-05-06'],
  ['in a week', '2026-05-11'],
  ['next month', '2026-06-04'],
  ['in 9 months', '2027-02-04'],
  ['friday', '2026-05-08'],
  ['this monday', '2026-05-04'],
  ['monday', '2026-05-11'],
  ['December 31st', '2026-12-31'],
  ['jan 2', '2027-01-02'],
  ['3rd march 2028', '2028-03-03'],
  ['someday', undefined],
])('the day of "%s" is %s', (words, day) => {
  expect(readDay(words, '2026-05-04')).toBe(day)
})
