import { expect, test } from 'vitest'
import { readPart } from '../../../src/web/code/files.tsx'

/** A folder whose every seventh entry is a folder, as a call gives it: folders first within each call. */
const entries = Array.from({ length: 2345 }, (_, number) => ({
  name: String(number),
  type: number % 7 === 0 ? ('tree' as const) : ('blob' as const),
}))

async function read({ page, per_page }: { page: number; per_page: number }) {
  const items = entries.slice((page - 1) * per_page, page * per_page)
  return { items, total: entries.length }
}

test('a large folder comes in parts of a thousand, all folders of a part before its files', async () => {
  const first = await readPart(1, read)
  expect(first.entries).toHaveLength(1000)
  expect(first.next).toBe(2)
  const lastFolder = first.entries.findLastIndex(({ type }) => type === 'tree')
  const firstFile = first.entries.findIndex(({ type }) => type === 'blob')
  expect(lastFolder).toBeLessThan(firstFile)
  const third = await readPart(3, read)
  expect(third.entries).toHaveLength(345)
  expect(third.next).toBeUndefined()
  expect((await readPart(4, read)).entries).toEqual([])
})

test('no entry is left out or comes twice', async () => {
  const parts = await Promise.all([1, 2, 3].map((part) => readPart(part, read)))
  const names = parts.flatMap((part) => part.entries.map(({ name }) => Number(name)))
  expect(names.toSorted((a, b) => a - b)).toEqual(entries.map((_, number) => number))
})
