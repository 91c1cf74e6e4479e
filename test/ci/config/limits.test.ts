import { describe, expect, test } from 'vitest'
import { PatternBudget } from '../../../src/base/patterns/budget.ts'
import { Problem } from '../../../src/base/problem.ts'
import { compileConfig } from '../../../src/ci/config/compile.ts'
import { type IncludeContext, withIncludes } from '../../../src/ci/config/include.ts'
import { fillInputs } from '../../../src/ci/config/inputs.ts'
import { planPipeline } from '../../../src/ci/config/plan.ts'
import type { Circumstances } from '../../../src/ci/config/rules.ts'
import { withVariables } from '../../../src/ci/config/variable-scope.ts'
import { expandText } from '../../../src/ci/config/variables.ts'
import { readConfigFile } from '../../../src/ci/config/yaml.ts'
import { type JobState, nextStates } from '../../../src/ci/pipelines/process/next-states.ts'

const limits = { maxBytes: 2_097_152, maxDepth: 100 }
const circumstances = () => ({
  ref: 'main',
  tag: false,
  source: 'push',
  variables: new Map<string, string>(),
  overriding: new Set<string>(),
  paths: async () => [],
  changed: async () => undefined,
  patterns: new PatternBudget(),
})

async function plan(text: string, more: Partial<Circumstances> = {}) {
  const at = { ...circumstances(), ...more }
  const content = await fillInputs(await readConfigFile(text, limits), {}, 'ci.yml', at.patterns)
  const found = await planPipeline(await compileConfig(content, at.patterns), at)
  if (typeof found === 'string') throw new Error(found)
  return found
}

async function faultOf(text: string, more: Partial<Circumstances> = {}): Promise<string> {
  try {
    await plan(text, more)
    return 'none'
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return error.fields?.base?.join(', ') ?? ''
  }
}

/** So many lines, each with its number. */
function lines(count: number, line: (at: number) => string, between = '\n'): string {
  return Array.from({ length: count }, (_, at) => line(at)).join(between)
}

const tooLarge = 'Invalid configuration format: the configuration is too large'

describe('a small configuration that means something huge is refused', () => {
  test.each([
    [
      'references of references',
      `.a: [${'x, '.repeat(100)}]
.b: [${'!reference [.a], '.repeat(100)}]
.c: [${'!reference [.b], '.repeat(100)}]
x: {script: [!reference [.c]]}`,
    ],
    [
      'a large template that many jobs extend',
      `.t: {variables: {${lines(2000, (at) => `A${at}: x,`, ' ')}}}
${lines(400, (at) => `x${at}: {extends: .t, script: y}`)}`,
    ],
    [
      'a large template that one job extends again and again',
      `.t: {variables: {${lines(2000, (at) => `A${at}: x,`, ' ')}}}
x: {extends: [${'.t, '.repeat(500)}], script: y}`,
    ],
    [
      'a long input that is named again and again',
      `spec: {inputs: {a: {default: ${'b'.repeat(10_000)}}}}
---
x: {script: ['${'$[[ inputs.a ]]'.repeat(500)}']}`,
    ],
    [
      'a long input in many texts',
      `spec: {inputs: {a: {default: ${'b'.repeat(10_000)}}}}
---
x: {script: [${"'$[[ inputs.a ]]!', ".repeat(500)}]}`,
    ],
    [
      'many variables for each of many jobs',
      `variables: {${lines(1200, (at) => `A${at}: x,`, ' ')}}
${lines(10, (at) => `x${at}: {script: y, parallel: 100}`)}`,
    ],
    [
      'a long variable for each of many jobs',
      `variables: {A: ${'a'.repeat(30_000)}}
${lines(10, (at) => `x${at}: {script: y, parallel: 200}`)}`,
    ],
    [
      'a long script for each of many jobs',
      lines(10, (at) => `x${at}: {script: ${'y'.repeat(30_000)}, parallel: 200}`),
    ],
    [
      'tags of a long variable, for each of many jobs',
      `variables: {A: {value: ${'a'.repeat(60_000)}}}
x: {script: y, inherit: {variables: false}, parallel: 200, tags: [${lines(9, (at) => `${at}${'$A'.repeat(10)}`, ', ')}]}`,
    ],
    [
      'many long values that conditions ask for',
      `variables: {A: ${'a'.repeat(60_000)}, ${lines(400, (at) => `B${at}: $A`, ', ')}}
x: {script: y, rules: [${lines(400, (at) => `{if: $B${at} == "b"}`, ', ')}]}`,
    ],
    [
      'needs of copies by copies',
      lines(25, (at) => {
        const needs = Array.from({ length: at }, (_, other) => `x${other}`)
        return `x${at}: {script: y, parallel: 100, needs: [${needs.join(', ')}]}`
      }),
    ],
  ])('%s', async (_name, text) => {
    expect(await faultOf(text)).toBe(tooLarge)
  })

  test('a pipeline of more than 5,000 jobs', async () => {
    const jobs = (count: number) => lines(count, (at) => `x${at}: {script: y, parallel: 200}`)
    expect((await plan(jobs(25))).jobs).toHaveLength(5000)
    expect(await faultOf(jobs(26))).toBe('The number of jobs has exceeded the limit of 5000.')
  })

  test('a job whose name, or that of a copy, is longer than 255 characters', async () => {
    const name = 'n'.repeat(255)
    expect((await plan(`${name}: {script: y}`)).jobs[0]?.name).toBe(name)
    expect(await faultOf(`${name}n: {script: y}`)).toMatch(/name is too long \(maximum is 255/)
    expect(await faultOf(`${name}: {script: y, parallel: 2}`)).toMatch(/name is too long/)
  })

  test('files that are too large together, though each of them is not', async () => {
    const file = `.a:\n  script: ${'x'.repeat(600)}\n`
    const context = (files: number): IncludeContext => ({
      sources: {
        file: async () => file,
        paths: async () => Array.from({ length: files }, (_, at) => `part${at}.yml`),
        project: async () => undefined,
        releases: async () => [],
        remote: async () => undefined,
        template: async () => undefined,
      },
      circumstances: circumstances(),
      limits: { maxBytes: 2000, maxDepth: 10 },
      included: [],
    })
    const include = { include: 'part*.yml', x: { script: 'y' } }
    const place = { projectId: 1, project: 'a/b', sha: 'a' }
    expect(await withIncludes(context(3), include, place)).toHaveProperty('x')
    await expect(withIncludes(context(4), include, place)).rejects.toMatchObject({
      fields: { base: [tooLarge] },
    })
  })
})

describe('a configuration that costs much elsewhere is read at once', () => {
  /** Loads of a shared machine come and go; what is meant here took minutes. */
  const atOnce = 15_000

  test.each([
    [
      'thousands of variables',
      `variables: {${lines(3000, (at) => `A${at}: x$A${at + 1},`, ' ')}}\nx: {script: y, tags: [$A0]}`,
      'none',
    ],
    [
      'a need that looks like a copy of a copy of a copy',
      `x: {script: y, needs: ['${': ['.repeat(30_000)}']}`,
      /^x job: undefined need: : \[: \[/,
    ],
    [
      'an interpolation that never ends',
      `spec: {inputs: {a: {default: b}}}\n---\nx: {script: '$[[ inputs.a |${' '.repeat(20_000)}'}`,
      'none',
    ],
    [
      'a long chain of needs',
      `${lines(2000, (at) => `x${at}: {script: y, needs: [x${at + 1}]}`)}\nx2000: {script: y}`,
      'none',
    ],
  ])(
    '%s',
    async (_name, text, fault) => {
      const begun = performance.now()
      expect(await faultOf(text)).toMatch(fault)
      expect(performance.now() - begun).toBeLessThan(atOnce)
    },
    60_000,
  )

  const names = (start: string) => Array.from({ length: 40_000 }, (_, at) => `${start}${at}`)
  test.each([
    [
      'very many needs',
      { x: { script: 'y', needs: names('n').map((job) => ({ job, optional: true })) } },
    ],
    [
      'very many variables of which a job wants very many others',
      {
        variables: Object.fromEntries(names('A').map((name) => [name, 'x'])),
        x: { script: 'y', inherit: { variables: names('B') } },
      },
    ],
  ])(
    '%s',
    async (_name, config) => {
      const begun = performance.now()
      const at = circumstances()
      const found = await planPipeline(await compileConfig(config, at.patterns), at)
      expect(found).toHaveProperty('jobs.length', 1)
      expect(performance.now() - begun).toBeLessThan(atOnce)
    },
    60_000,
  )

  test.each([
    ['a pattern that opens and never closes', `{exists: ['${'['.repeat(1000)}']}`, 'none'],
    ['a longer one', `{exists: ['${'['.repeat(1025)}']}`, /^pattern \[{50}… is too long/],
    ['many patterns', `{exists: [${'a, '.repeat(51)}]}`, /exists config has too many entries/],
    ['changes by many patterns', `{changes: [${'a, '.repeat(51)}]}`, /has too many entries/],
    [
      'an expression that repeats very much',
      `{if: '"${'ab'.repeat(2000)}c" =~ /${'(.?){1000}'.repeat(20)}c/'}`,
      /^regular expression \(\.\?\).*… is too large/,
    ],
    [
      'groups of an expression in a long text',
      `{if: '"${'ab'.repeat(2000)}c" =~ /${'(.?){50}'.repeat(4)}c/'}`,
      'none',
    ],
  ])(
    '%s',
    async (_name, rule, fault) => {
      const begun = performance.now()
      expect(await faultOf(`x: {script: y, rules: [${rule}, {when: always}]}`)).toMatch(fault)
      expect(performance.now() - begun).toBeLessThan(atOnce)
    },
    60_000,
  )

  const big = 'ab'.repeat(400_000)
  const rule = (condition: string) =>
    `x: {script: y, rules: [{if: '${condition}'}, {when: always}]}`
  test.each([
    ['a costly pattern and a long variable', '$BIG =~ /a[ab]{900}[0-9]/'],
    ['a pattern of a variable', '$BIG =~ $PATTERN'],
    ['one expression', Array(30).fill('$BIG =~ /x(a|b)*y/').join(' || ')],
  ])('%s are refused', async (_name, condition) => {
    const variables = new Map([
      ['BIG', big],
      ['PATTERN', '/a[ab]{900}[0-9]/'],
    ])
    const fault = await faultOf(rule(condition), { variables })
    expect(fault).toMatch(/^regular expression .* takes too long on a text of this length/)
  })

  test('a chain of needs is followed to its end, in whatever order its jobs are written', () => {
    const count = 5000
    const job = (id: number, more: Partial<JobState> = {}): JobState => ({
      id,
      name: `x${id}`,
      status: 'created',
      position: 1,
      run_when: 'on_success',
      allow_failure: 0,
      needs: id + 1 < count ? [`x${id + 1}`] : [],
      ...more,
    })
    const jobs = Array.from({ length: count }, (_, id) => job(id))
    expect([...nextStates(jobs)]).toEqual([[count - 1, 'pending']])
    const failed = jobs.map((one) =>
      one.id === count - 1 ? job(one.id, { status: 'failed' }) : one,
    )
    expect(nextStates(failed).size).toBe(count - 1)
    expect(nextStates(failed).get(0)).toBe('skipped')
    const after = job(count, { position: 2, needs: undefined, run_when: 'on_failure' })
    expect(nextStates([after, ...failed]).get(count)).toBe('pending')
  })

  test('texts and variables that name each other do not grow for ever', () => {
    const doubled = Array.from({ length: 40 }, (_, at) => ({
      key: `A${at}`,
      value: at === 0 ? 'xxxxxxxx' : `$A${at - 1}$A${at - 1}`,
      raw: false,
    }))
    const found = withVariables(new Map(), doubled)
    expect(found.get('A3')).toBe('x'.repeat(64))
    expect(found.get('A13')?.length).toBe(65_536)
    expect(found.get('A14')).toBe(`${'x'.repeat(65_536)}$A13`)
    expect(found.get('A39')?.length).toBeLessThanOrEqual(131_072)
    expect(expandText('$A39'.repeat(1000), found).length).toBeLessThan(1_100_000)
  })
})
