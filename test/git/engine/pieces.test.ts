import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PieceReader } from '../../../src/git/engine/pieces.ts'

/** The bytes on the pipe, as `PieceWriter` puts them there. */
function onPipe(pieces: readonly (readonly [number, Uint8Array])[]): Buffer {
  return Buffer.concat(
    pieces.flatMap(([id, bytes]) => {
      const header = Buffer.alloc(8)
      header.writeUInt32LE(id, 0)
      header.writeUInt32LE(bytes.length, 4)
      return [header, bytes]
    }),
  )
}

test('pieces come out whole and in order, however the pipe cuts them', () => {
  const piece = fc.tuple(fc.integer({ min: 1, max: 4 }), fc.uint8Array({ maxLength: 40 }))
  fc.assert(
    fc.property(fc.array(piece), fc.array(fc.integer({ min: 1, max: 20 })), (pieces, cuts) => {
      const seen: [number, Buffer][] = []
      let open: Buffer[] = []
      const reader = new PieceReader((id, bytes, isLast) => {
        open.push(Buffer.from(bytes))
        if (!isLast) return
        seen.push([id, Buffer.concat(open)])
        open = []
      })
      let rest = onPipe(pieces)
      for (const cut of cuts) {
        reader.read(rest.subarray(0, cut))
        rest = rest.subarray(cut)
      }
      reader.read(rest)
      expect(seen).toEqual(pieces.map(([id, bytes]) => [id, Buffer.from(bytes)]))
    }),
  )
})
