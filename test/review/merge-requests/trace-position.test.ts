import { createTwoFilesPatch } from 'diff'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Position } from '../../../src/discussions/notes/noteable.ts'
import {
  type FilePatch,
  tracePosition,
} from '../../../src/review/merge-requests/diff/trace-position.ts'

function patch(before: readonly string[], after: readonly string[]): FilePatch {
  const text = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join('')
  const whole = createTwoFilesPatch('f', 'f', text(before), text(after), '', '', { context: 3 })
  const at = whole.indexOf('@@')
  return { oldPath: 'f', newPath: 'f', deletedFile: false, diff: at < 0 ? '' : whole.slice(at) }
}

const at = (line: number): Position => ({
  base_sha: 'b1',
  start_sha: 's1',
  head_sha: 'h1',
  old_path: 'f',
  new_path: 'f',
  position_type: 'text',
  old_line: null,
  new_line: line,
  line_range: null,
})

/** Lines that all differ, and which of them the next version keeps, with how many new ones before each. */
const edits = fc.array(fc.record({ keep: fc.boolean(), added: fc.integer({ min: 0, max: 2 }) }), {
  minLength: 1,
  maxLength: 60,
})

test('a line of a new file is followed to where the same line is, and given up when it goes', () => {
  fc.assert(
    fc.property(edits, (plan) => {
      const before = plan.map((_, i) => `line ${i}`)
      const after = plan.flatMap(({ keep, added }, i) => [
        ...Array.from({ length: added }, (_, n) => `new ${i}.${n}`),
        ...(keep ? [`line ${i}`] : []),
      ])
      const heads = before.join() === after.join() ? [] : [patch(before, after)]
      const step = {
        base: 'b2',
        start: 's2',
        head: 'h2',
        bases: [],
        heads,
        version: [patch([], after)],
      }
      for (const [i, line] of before.entries()) {
        const found = tracePosition(at(i + 1), step)
        const place = after.indexOf(line)
        expect(found?.new_line).toBe(place < 0 ? undefined : place + 1)
        if (found) expect(found).toMatchObject({ head_sha: 'h2', old_line: null })
      }
    }),
  )
})

test('an unchanged line knows both its numbers in the new version', () => {
  const lines = Array.from({ length: 30 }, (_, i) => `line ${i}`)
  const first = ['top', ...lines]
  const second = ['top', 'next', ...lines.slice(0, 20), 'middle', ...lines.slice(20)]
  const step = {
    base: 'b1',
    start: 's1',
    head: 'h2',
    bases: [],
    heads: [patch(first, second)],
    version: [patch(lines, second)],
  }
  const far = tracePosition({ ...at(12), old_line: 11 }, step)
  expect(far).toMatchObject({ old_line: 11, new_line: 13 })
  const last = tracePosition({ ...at(31), old_line: 30 }, step)
  expect(last).toMatchObject({ old_line: 30, new_line: 33 })
  expect(tracePosition({ ...at(1), old_line: 3, new_line: null }, step)).toBeUndefined()
})
