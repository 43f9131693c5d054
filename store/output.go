package store

import "cmp"

// The bounds of the output of an attempt.
const (
	// OutputLimit is how many bytes of an attempt's output are kept: the last.
	OutputLimit = 64 << 10
	// OutputBlock is the size of the blocks in which the output of a running
	// attempt is stored. The bytes of the output are counted from 0, and block n
	// begins with byte n*OutputBlock.
	OutputBlock = 4 << 10
	// OutputBlocks is how many blocks of an attempt are stored: the last. Without
	// the last block, which may be short, they have OutputLimit bytes.
	OutputBlocks = OutputLimit/OutputBlock + 1
)

// SaveOutputRequest stores output of attempts that run.
type SaveOutputRequest struct {
	Claims []ClaimOutput // at most one of each job
}

// ClaimOutput is the end of the output of a claim so far.
type ClaimOutput struct {
	ClaimRef
	// From is how many bytes of the output come before Data, a multiple of
	// OutputBlock.
	From int64
	// Data is not empty, and at most OutputBlocks blocks long.
	Data []byte
}

// Window returns the numbers of the first and the last block that are kept
// when the output is stored. Other blocks of the job are deleted.
func (c ClaimOutput) Window() (first, last int64) {
	last = (c.From + int64(len(c.Data)) - 1) / OutputBlock
	return max(last-OutputBlocks+1, 0), last
}

// Blocks returns Data in blocks. Each block but the last is full.
func (c ClaimOutput) Blocks() []StoredBlock {
	var blocks []StoredBlock
	for n, rest := c.From/OutputBlock, c.Data; len(rest) > 0; n++ {
		size := min(len(rest), OutputBlock)
		blocks = append(blocks, StoredBlock{N: n, Data: rest[:size]})
		rest = rest[size:]
	}
	return blocks
}

// StoredBlock is block N of the output of an attempt.
type StoredBlock struct {
	N    int64
	Data []byte
}

// Printed is the end of the output of an attempt.
type Printed struct {
	// From is how many bytes of the output come before Data.
	From int64
	Data []byte // any bytes, at most OutputLimit
}

// End returns how many bytes the attempt has printed.
func (p Printed) End() int64 { return p.From + int64(len(p.Data)) }

// PrintedIn returns the output that stored blocks have, in the order of their
// numbers: at most OutputLimit bytes, without a gap.
func PrintedIn(blocks []StoredBlock) Printed {
	var p Printed
	for _, b := range blocks {
		if at := b.N * OutputBlock; at != p.End() {
			p = Printed{From: at}
		}
		p.Data = append(p.Data, b.Data...)
	}
	return p.Since(0)
}

// PrintedBy returns the output of an attempt that has ended: data are the last of
// its total bytes. A total that is less than the length of data is not known.
func PrintedBy(total int64, data []byte) Printed {
	return Printed{From: max(total-int64(len(data)), 0), Data: data}
}

// Since returns the part of the output that begins with byte from, or later if
// that byte is not kept.
func (p Printed) Since(from int64) Printed {
	from = max(from, p.From, p.End()-OutputLimit)
	if from >= p.End() {
		return Printed{From: from}
	}
	return Printed{From: from, Data: p.Data[from-p.From:]}
}

// ReadOutputRequest asks for the output of an attempt at a job, also while the
// attempt runs.
type ReadOutputRequest struct {
	ID    int64 // of the job
	Token int64 // of the attempt's claim; 0: the last claim of the job
	From  int64 // only from this byte
}

// JobOutput is the output of an attempt at a job, and what became of both.
type JobOutput struct {
	State State // of the job
	// Last is the token of the job's last claim; 0: the job has never been claimed.
	Last int64
	// Token is the token of the attempt's claim, as it was asked for, or Last.
	Token int64
	// Attempt is the attempt's number, or 0: the attempt has ended and left no
	// record.
	Attempt int16
	// Running means that the attempt runs, so that more may be printed.
	Running bool
	Printed
}

// OutputOf returns the answer to a request for the output of an attempt at the
// job, without the output.
func (j *JobInfo) OutputOf(req ReadOutputRequest) JobOutput {
	out := JobOutput{State: j.State, Last: j.Token, Token: cmp.Or(req.Token, j.Token), Printed: Printed{From: req.From}}
	if out.Token == j.Token && j.State == StateRunning {
		out.Running, out.Attempt = true, j.Attempt
	}
	return out
}
