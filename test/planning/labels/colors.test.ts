import { beforeAll, expect, test } from 'vitest'
import { createProject } from '../../support/create.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let labels: string
let count = 0

beforeAll(async () => {
  const { id } = await createProject(ana, 'coloured')
  labels = `/projects/${id}/labels`
})

function make(color: string) {
  count += 1
  return ana.post(labels, { name: `label ${count}`, color })
}

test.each([
  ['#AbCdEf', '#AbCdEf'],
  ['#000', '#000000'],
  ['#f0a', '#ff00aa'],
  ['red', '#FF0000'],
  ['RebeccaPurple', '#663399'],
  ['lightgoldenrodyellow', '#FAFAD2'],
  ['mediumspringgreen', '#00FA9A'],
  ['darkslategrey', '#2F4F4F'],
  ['cornflowerblue', '#6495ED'],
  ['papayawhip', '#FFEFD5'],
  ['PERU', '#CD853F'],
  ['aliceblue', '#F0F8FF'],
  ['yellowgreen', '#9ACD32'],
])('%s is the colour %s', async (given, color) => {
  const made = await make(given)
  expect([made.status, made.body.color]).toEqual([201, color])
  expect((await ana.get(`${labels}/${made.body.id}`)).body.color).toBe(color)
})

test.each(['', '#12', '#12345', '#1234567', '#ggg', 'rouge', 'rgb(1,2,3)', 'toString', ' red'])(
  '%j is none',
  async (given) => {
    const refused = await make(given)
    expect([refused.status, refused.body]).toEqual([
      400,
      { message: { color: ['must be a valid color code'] } },
    ])
  },
)

test('the text on a colour is the one that reads well', async () => {
  for (const [color, text] of [
    ['white', '#1F1E24'],
    ['black', '#FFFFFF'],
    ['#ffff00', '#1F1E24'],
    ['navy', '#FFFFFF'],
  ] as const) {
    expect([color, (await make(color)).body.text_color]).toEqual([color, text])
  }
})
