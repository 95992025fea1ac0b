/** The name of the event of `document` that tells the panels that the document was stored, by whomever. */
export const storedEvent = 'documentstored'
