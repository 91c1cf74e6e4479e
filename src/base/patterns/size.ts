/** Instructions of a part of a pattern: what stands before its last piece, and that piece, which a repetition is about. */
interface Part {
  before: number
  last: number
}

/** The pieces of a pattern, as the parser of the library takes it apart. */
const PIECE =
  /\\Q(?<quoted>[^\\]*(?:\\(?!E)[^\\]*)*)(?:\\E|$)|(?<unicode>\\[pP](?:\{[^}]*\}|.))|(?<letter>\\x\{[\da-fA-F]*\}|\\.)|(?<set>\[\^?\]?(?:\[:[a-z^]*:\]|\\.|[^\]\\])*\])|(?<flags>\(\?[a-zA-Z-]*\))|(?<open>\((?:\?P?<[^>]*>|\?[a-zA-Z-]*:)?)|(?<close>\))|(?<or>\|)|(?<many>[*+?])|\{(?<least>\d+)(?:,(?<most>\d*))?\}|./sy

/** A class such as `\p{L}` is a table of hundreds of ranges. */
const UNICODE = 20
/** Ranges of a set that are looked through in the time of an instruction. */
const RANGES = 16

/**
 * How many instructions a pattern compiles to at most, found out without compiling it: that takes time in
 * proportion, and `((a{10}){10}){10}` is short. Sets and classes count for what it costs to compile them.
 */
export function patternSize(source: string): number {
  const parts: Part[] = [{ before: 3, last: 0 }]
  for (const { groups = {} } of source.matchAll(new RegExp(PIECE, 'gsy'))) {
    // Flags and an empty quotation are no pieces: what follows is about the one before.
    if (groups.flags !== undefined || groups.quoted === '') continue
    if (groups.open !== undefined) parts.push({ before: 0, last: 0 })
    else if (groups.close !== undefined) close(parts)
    else take(parts.at(-1), groups)
  }
  return parts.reduce((sum, { before, last }) => sum + before + last, 0)
}

type Piece = Readonly<Record<string, string | undefined>>

function take(part: Part | undefined, piece: Piece): void {
  if (!part) return
  if (piece.or !== undefined) add(part, 2, 0)
  else if (piece.many !== undefined) part.last += 2
  else if (piece.least !== undefined) repeat(part, piece.least, piece.most)
  else add(part, quotedBefore(piece.quoted), weightOf(piece))
}

/** A repetition behind a quotation is about its last letter alone. */
function quotedBefore(quoted: string | undefined): number {
  return quoted === undefined ? 0 : quoted.length - 1
}

function weightOf({ quoted, unicode, set }: Piece): number {
  if (quoted !== undefined) return 1
  if (unicode !== undefined) return UNICODE
  if (set === undefined) return 1
  const classes = set.match(/\\[pP]/g)?.length ?? 0
  return 1 + Math.floor(set.length / RANGES) + UNICODE * classes
}

function add(part: Part, before: number, last: number): void {
  part.before += part.last + before
  part.last = last
}

/** A group is one piece of what it stands in, with the two instructions that capture it. */
function close(parts: Part[]): void {
  const inner = parts.length > 1 ? parts.pop() : undefined
  const outer = parts.at(-1)
  if (inner && outer) add(outer, 0, Math.max(inner.before + inner.last, 1) + 2)
}

/** Written out: as many copies as the higher number says, each of those beyond the lower with a way round it. */
function repeat(part: Part, least: string, most = least): void {
  const [from, to] = [Number(least), Number(most)]
  const copies = Math.max(from, to, 1)
  part.last = part.last * copies + Math.max(copies - from, 2)
}
