import { z } from 'zod'

const lines = z.union([z.string(), z.array(z.string())])

const output = z.object({
  output_type: z.string(),
  text: lines.optional(),
  traceback: z.array(z.string()).optional(),
  data: z.object({ 'text/plain': lines.optional(), 'image/png': lines.optional() }).optional(),
})

const notebook = z.object({
  cells: z.array(
    z.object({ cell_type: z.string(), source: lines, outputs: z.array(output).optional() }),
  ),
})

/** What a cell of code gave: text, or a picture as base64. Its HTML is left out: that may hold anything. */
export interface CellOutput {
  readonly text: string
  readonly png: string | undefined
}

export interface Cell {
  readonly kind: 'markdown' | 'code' | 'raw'
  readonly text: string
  readonly outputs: readonly CellOutput[]
}

const mostCells = 200
const mostOutputs = 20

/** The cells of a notebook; undefined for a file that is none. */
export function readNotebook(text: string): readonly Cell[] | undefined {
  const read = notebook.safeParse(parsed(text))
  if (!read.success) return undefined
  return read.data.cells.slice(0, mostCells).map(({ cell_type: type, source, outputs = [] }) => ({
    kind: type === 'markdown' || type === 'code' ? type : 'raw',
    text: joined(source),
    outputs: outputs.slice(0, mostOutputs).map(readOutput),
  }))
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function readOutput({ text, traceback, data }: z.infer<typeof output>): CellOutput {
  const png = joined(data?.['image/png'] ?? '').replaceAll(/\s/g, '')
  const plain = text ?? traceback?.join('\n') ?? data?.['text/plain'] ?? ''
  return {
    text: withoutColours(joined(plain)),
    png: png !== '' && /^[A-Za-z0-9+/]+=*$/.test(png) ? png : undefined,
  }
}

function joined(text: string | readonly string[]): string {
  return typeof text === 'string' ? text : text.join('')
}

/** Without the codes by which terminals colour text. */
function withoutColours(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what these codes begin with
  return text.replaceAll(/\x1b\[[0-9;]*[A-Za-z]/g, '')
}
