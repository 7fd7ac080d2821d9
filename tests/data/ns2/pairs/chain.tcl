set ns [new Simulator]
set trace [open [lindex $argv 0] w]
$ns trace-all $trace
set n0 [$ns node]
set n1 [$ns node]
set n2 [$ns node]
set n3 [$ns node]
$ns simplex-link $n0 $n1 2Mb 10ms DropTail
$ns queue-limit $n0 $n1 10
$ns simplex-link $n1 $n0 2Mb 10ms DropTail
$ns queue-limit $n1 $n0 8
$ns simplex-link $n1 $n2 1.5Mb 15ms DropTail
$ns queue-limit $n1 $n2 8
$ns simplex-link $n2 $n1 1.5Mb 15ms DropTail
$ns queue-limit $n2 $n1 6
$ns simplex-link $n2 $n3 2Mb 10ms DropTail
$ns queue-limit $n2 $n3 10
$ns simplex-link $n3 $n2 2Mb 10ms DropTail
$ns queue-limit $n3 $n2 8
set s0 [new Agent/TCP/Sack1]
$s0 set window_ 50
set k0 [new Agent/TCPSink/Sack1]
$s0 set fid_ 0
$ns attach-agent $n0 $s0
$ns attach-agent $n3 $k0
$ns connect $s0 $k0
set a0 [new Application/FTP]
$a0 attach-agent $s0
set s1 [new Agent/TCP/Newreno]
$s1 set window_ 50
set k1 [new Agent/TCPSink/DelAck]
$s1 set fid_ 1
$ns attach-agent $n3 $s1
$ns attach-agent $n0 $k1
$ns connect $s1 $k1
set a1 [new Application/FTP]
$a1 attach-agent $s1
set s2 [new Agent/TCP/Reno]
$s2 set window_ 50
set k2 [new Agent/TCPSink]
$s2 set fid_ 2
$ns attach-agent $n1 $s2
$ns attach-agent $n2 $k2
$ns connect $s2 $k2
set a2 [new Application/FTP]
$a2 attach-agent $s2
set s3 [new Agent/TCP]
$s3 set window_ 50
set k3 [new Agent/TCPSink]
$s3 set fid_ 3
$ns attach-agent $n2 $s3
$ns attach-agent $n0 $k3
$ns connect $s3 $k3
set a3 [new Application/FTP]
$a3 attach-agent $s3
set s4 [new Agent/UDP]
$s4 set packetSize_ 500
set k4 [new Agent/Null]
$s4 set fid_ 4
$ns attach-agent $n0 $s4
$ns attach-agent $n2 $k4
$ns connect $s4 $k4
set a4 [new Application/Traffic/CBR]
$a4 set packetSize_ 500
$a4 set rate_ 0.25Mb
$a4 attach-agent $s4
$ns at 0.1 "$a0 start"
$ns at 0.31 "$a1 start"
$ns at 0.57 "$a2 start"
$ns at 0.73 "$a3 start"
$ns at 1 "$a4 start"
$ns at 4 "$a4 stop"
$ns at 6 "$ns flush-trace; close $trace; exit 0"
$ns run
