/** A process that has been without its database for too long ends with this code: EX_UNAVAILABLE of sysexits. */
export const unavailableCode = 69
