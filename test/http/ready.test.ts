import { expect, test } from 'vitest'
import { jsonOf, ready } from '../../src/http/listener/ready.ts'

const textOf = (value: unknown) => jsonOf(value).toString()

test('ready items of a list, as text or as bytes, become the JSON of the list', () => {
  const items = [{ title: 'ä' }, { title: '“b”' }, { title: '😀' }]
  const texts = items.map((item) => JSON.stringify(item))
  expect(JSON.parse(textOf(texts.map((text) => ready(text))))).toEqual(items)
  expect(JSON.parse(textOf(texts.map((text) => ready(Buffer.from(text)))))).toEqual(items)
  expect(JSON.parse(textOf([ready(Buffer.from('1')), ready('2')]))).toEqual([1, 2])
})

test('what is not ready is put into words as usual, also with something ready in it', () => {
  expect(textOf([])).toBe('[]')
  expect(textOf([{ a: 1 }])).toBe('[{"a":1}]')
  expect(textOf({ a: ready(Buffer.from('{"b":2}')) })).toBe('{"a":{"b":2}}')
})
