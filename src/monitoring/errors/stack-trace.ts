import { exceptionOf, framesOf } from './event.ts'

/** A frame of a stack (docs/contract/C-resolved §2.4). */
export interface StackFrame {
  readonly lineNo: number | null
  readonly colNo: number | null
  readonly filename: string | null
  readonly abs_path: string | null
  readonly function: string | null
  readonly in_app: boolean | null
  readonly context: readonly (readonly [number, string])[]
}

/** Frames beyond this many are left out. */
const MOST_FRAMES = 250

/** The frames of an event, the innermost last. */
export function stackOf(event: Readonly<Record<string, unknown>>): StackFrame[] {
  const exception = exceptionOf(event)
  if (!exception) return []
  return framesOf(exception)
    .slice(-MOST_FRAMES)
    .map((frame) => {
      const line = numberOf(frame.lineno)
      return {
        lineNo: line,
        colNo: numberOf(frame.colno),
        filename: textOf(frame.filename),
        abs_path: textOf(frame.abs_path),
        function: textOf(frame.function),
        in_app: typeof frame.in_app === 'boolean' ? frame.in_app : null,
        context: line === null ? [] : contextOf(frame, line),
      }
    })
}

function contextOf(
  frame: Readonly<Record<string, unknown>>,
  line: number,
): (readonly [number, string])[] {
  const before = linesOf(frame.pre_context)
  const here = textOf(frame.context_line)
  const after = linesOf(frame.post_context)
  return [
    ...before.map((text, index) => [line - before.length + index, text] as const),
    ...(here === null ? [] : [[line, here] as const]),
    ...after.map((text, index) => [line + 1 + index, text] as const),
  ]
}

function linesOf(value: unknown): string[] {
  return Array.isArray(value) ? value.slice(0, 50).map((line) => textOf(line) ?? '') : []
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value.replaceAll('\0', '').toWellFormed() : null
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : null
}
