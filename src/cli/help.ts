import type { Command, Option } from './command.ts'

/** Options that every command takes. */
export const commonOptions = {
  data: {
    type: 'string',
    value: '<folder>',
    doc: 'Data folder; otherwise GITSTEAD_DATA, or ./data',
  },
  json: { type: 'boolean', doc: 'Answer with one JSON document' },
  help: { type: 'boolean', short: 'h', doc: 'Show this help' },
} as const satisfies Readonly<Record<string, Option>>

/** The page of `gitstead --help`. */
export function overview(commands: readonly Command[]): string[] {
  const rows = commands.map((one) => [usage(one), one.summary] as const)
  return [
    'Usage: gitstead <command> [options]',
    '',
    'Commands:',
    ...columns(rows),
    '',
    'Every command takes --data <folder>, --json and --help.',
    'Settings come from the environment (GITSTEAD_…) and from gitstead.json in the data folder.',
  ]
}

/** The page of `gitstead <command> --help`. */
export function helpOf(one: Command): string[] {
  const options = Object.entries({ ...one.options, ...commonOptions })
  const rows = options.map(([name, option]) => [optionForm(name, option), option.doc] as const)
  return [`Usage: gitstead ${usage(one)} [options]`, '', `${one.summary}.`, '', ...columns(rows)]
}

function usage(one: Command): string {
  return [one.name, ...one.args.map((name) => `<${name}>`)].join(' ')
}

function optionForm(name: string, option: Option): string {
  const short = option.short === undefined ? '' : `-${option.short}, `
  const value = option.type === 'string' ? ` ${option.value ?? '<text>'}` : ''
  return `${short}--${name}${value}`
}

function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`)
}
