import { expect, test } from 'vitest'
import { sharedLookUp } from '../../src/base/outbound/look-up.ts'

const never = () => new Promise<never>(() => {})

test('many who look a name up at once cause one look-up, and its answer is kept a while', async () => {
  const asked: string[] = []
  const lookUp = sharedLookUp(async (name) => {
    asked.push(name)
    return ['192.0.2.1']
  })
  const found = await Promise.all(Array.from({ length: 100 }, () => lookUp('a.example')))
  expect(found).toEqual(Array.from({ length: 100 }, () => ['192.0.2.1']))
  await lookUp('a.example')
  await lookUp('b.example')
  expect(asked).toEqual(['a.example', 'b.example'])
})

test('an answer that is old is asked for again', async () => {
  let count = 0
  const lookUp = sharedLookUp(async () => [`192.0.2.${++count}`], { keptMs: 1 })
  expect(await lookUp('a.example')).toEqual(['192.0.2.1'])
  await expect.poll(() => lookUp('a.example')).not.toEqual(['192.0.2.1'])
})

test('a look-up that is lost is asked again', async () => {
  let count = 0
  const lookUp = sharedLookUp(async () => (++count === 1 ? await never() : ['192.0.2.1']), {
    againMs: 5,
  })
  expect(await lookUp('a.example')).toEqual(['192.0.2.1'])
  expect(count).toBe(2)
})

test('a failure is thrown at once, and not kept', async () => {
  let isThere = false
  const lookUp = sharedLookUp(async () => {
    if (!isThere) throw new Error('ENOTFOUND')
    return ['192.0.2.1']
  })
  await expect(lookUp('a.example')).rejects.toThrow('ENOTFOUND')
  isThere = true
  expect(await lookUp('a.example')).toEqual(['192.0.2.1'])
})
