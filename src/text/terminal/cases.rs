//! Terminal outputs, and the lines that they leave on the screen.

type Case = (&'static str, &'static [(&'static str, u64)]);

pub(super) static CASES: &[Case] = &[
    // Lines.
    ("", &[]),
    ("one\ntwo", &[("one", 1), ("two", 2)]),
    ("one\r\ntwo\r\n", &[("one", 1), ("two", 2)]),
    ("one\r\r\n\r\ntwo", &[("one", 1), ("", 2), ("two", 3)]),
    // Carriage return.
    ("10%\r20%\r100%\ndone\n", &[("100%", 1), ("done", 2)]),
    ("a longer text\rshort\n", &[("shortger text", 1)]),
    ("a longer text\r             \rshort\n", &[("short", 1)]),
    ("a longer text\rshort\x1b[K\n", &[("short", 1)]),
    ("a longer text\r\x1b[2Kshort\n", &[("short", 1)]),
    ("stays\r", &[("stays", 1)]),
    // Backspace.
    ("abc\x08\x08X", &[("aXc", 1)]),
    ("|\x08/\x08-\x08 done", &[(" done", 1)]),
    ("N\x08NA\x08AM\x08ME\x08E", &[("NAME", 1)]),
    ("\x08\x08a", &[("a", 1)]),
    // Colours, titles, links.
    ("\x1b[31merror\x1b[0m: x\n", &[("error: x", 1)]),
    ("\x1b[38;5;208mx\x1b[38:2::1:2:3my\x1b[m", &[("xy", 1)]),
    ("\x1b[01;31m\x1b[Kerror:\x1b[m\x1b[K no\n", &[("error: no", 1)]),
    ("\x1b]0;title\x07here", &[("here", 1)]),
    ("\x1b]8;;https://example.com\x1b\\link\x1b]8;;\x1b\\!", &[("link!", 1)]),
    ("\x1bPq#0;2;0;0;0\x1b\\a\x1b_Gpicture\x1b\\b\x1b^x\x1b\\c\x1bXx\x1b\\d", &[("abcd", 1)]),
    ("\x1b]0;never ended\nnext\n", &[("", 1), ("next", 2)]),
    ("a\x1b[1\x18b\x1b[\u{4f60}c\x1b", &[("ab\u{4f60}c", 1)]),
    ("bell\x07 nul\0 del\x7f\n", &[("bell nul del", 1)]),
    // Erasing.
    ("abcdef\x1b[3D\x1b[K", &[("abc", 1)]),
    ("abcdef\x1b[3D\x1b[1K", &[("    ef", 1)]),
    ("abcdef\x1b[4D\x1b[2X", &[("ab  ef", 1)]),
    ("abcdef\x1b[4D\x1b[2P", &[("abef", 1)]),
    ("abcdef\x1b[4D\x1b[2@", &[("ab  cdef", 1)]),
    ("one\ntwo\nthree\x1b[A\x1b[Jx", &[("one", 1), ("two  x", 3)]),
    // Columns.
    ("a\x1b[3Cb", &[("a   b", 1)]),
    ("ab\x1b[6Gc\x1b[1GX", &[("Xb   c", 1)]),
    ("a\tb", &[("a\tb", 1)]),
    ("a\tb\rX", &[("X\tb", 1)]),
    ("a\tb\rXYZ", &[("XYZ\tb", 1)]),
    ("a\tb\r\x1b[3CX", &[("a  X\tb", 1)]),
    ("abc\r\td", &[("abc     d", 1)]),
    ("\u{4f60}\u{597d}\rX", &[("X \u{597d}", 1)]),
    ("\u{4f60}\u{597d}\x08X", &[("\u{4f60} X", 1)]),
    ("e\u{301}a\rX", &[("Xa", 1)]),
    // Other lines.
    ("one\ntwo\n\x1b[2AONE\n\n", &[("ONE", 3), ("two", 2)]),
    ("a\nb\nc\x1b[2A\rX\x1b[2B\rZ\n", &[("X", 3), ("b", 2), ("Z", 3)]),
    (
        "a 0%\nb 0%\n\x1b[2A\x1b[2Ka 50%\n\x1b[2Kb 50%\n\x1b[2A\x1b[2Ka ok\n\x1b[2Kb ok\nend\n",
        &[("a ok", 5), ("b ok", 6), ("end", 7)],
    ),
    ("a\nb\n\x1b[Fc\x1b[Ed", &[("a", 1), ("c", 3), ("d", 3)]),
    ("\x1b[9Atop\x1b[9B", &[("top", 1)]),
    ("a\x1bMb\x1bDc", &[("ab", 1), ("c", 1)]),
    ("a\x0bb\x0cc", &[("a", 1), ("b", 1), ("c", 1)]),
    ("a\x1b7b\nc\x1b8d", &[("ad", 2), ("c", 2)]),
    ("abc\x1b[s\rX\x1b[u!", &[("Xbc!", 1)]),
    // Positions.
    ("old\n\x1b[2J\x1b[Hnew\n", &[("new", 2)]),
    ("frame 1\nx\n\x1b[H\x1b[Jframe 2\ny\n", &[("frame 2", 3), ("y", 4)]),
    ("gone\n\x1bcnew", &[("new", 2)]),
    ("\x1b[3;5Hx\x1b[Hy", &[("y", 1), ("", 1), ("    x", 1)]),
    ("\x1b[s\x1b[60d\n\n\n\n\n\x1b8\x1b[J\x1b[Ha", &[("", 1), ("a", 6)]),
    ("a\nb\nc\x1b[2dB", &[("a", 1), ("bB", 3), ("c", 3)]),
    // A bar outside of the region that scrolls, as apt draws one.
    (
        "\x1b7\x1b[0;23r\x1b8\x1b[1A1\n\x1b7\x1b[24;0f\x1b[42mProgress: [ 10%]\x1b[49m\x1b82\n\x1b7\x1b[24;0fProgress: [ 90%]\x1b83\n",
        &[("1", 1), ("2", 2), ("3", 3)],
    ),
    // The alternate screen.
    ("a\n\x1b[?1049hpager\nq\x1b[?1049lb\n", &[("a", 1), ("b", 3)]),
    ("a\n\x1b[?1049hpager\nq", &[("a", 1), ("pager", 2), ("q", 3)]),
    ("abc\x1b[?47h\x1b[2Jx\x1b[?47l!", &[("abc!", 1)]),
];
